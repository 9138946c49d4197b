// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What the C++ files around libopenvdb share: the guard that lets no exception out, the writer of files, and the facts
// of a frame as metadata.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <math.h>
#include <stdint.h>

extern "C" {
#include "base/log.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "io/file.h"
#include "io/frame.h"
#include "io/seal.h"
#include "io/vdb_check.h"
#include "io/vdb_helper.h"
}

#include "io/vdb_extern.hh"

// The house hides symbols by default. OpenVDB's templates keep their type names in static members that its library and
// our files must share; hidden, there are two of each and initialize() crashes. So all of its headers are included like
// this.
#pragma GCC visibility push(default)
#include <openvdb/io/File.h>
#pragma GCC visibility pop
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace rh_vdb {

struct Stopped {};  // thrown where somebody who watches wants no more

// What an exception of the library says. One that has no room for a thread's stack says it in the system's words,
// whatever the file is like.
inline rh_code failed(const char *path, rh_code blame, const char *words, rh_status *status)
{
    if (std::strstr(words, std::strerror(EAGAIN)))
        return rh_fail(status, RH_MEMORY, "%s: there is no memory for another thread: %s", path, words);
    return rh_fail(status, blame, "%s: %s%s", path, blame == RH_USER ? "damaged: " : "", words);
}

// Runs `work` with our number of threads; no exception gets out.
template <typename Work> rh_code guarded(const char *path, rh_code blame, rh_status *status, Work work)
{
    try {
        openvdb::initialize();
        tbb::global_control threads(tbb::global_control::max_allowed_parallelism, size_t(rh_threads()));
        return work();
    } catch (const Stopped &) {
        return rh_fail(status, RH_STOPPED, "stopped on request");
    } catch (const std::bad_alloc &) {
        return rh_fail(status, RH_MEMORY, "%s: out of memory", path);
    } catch (const std::exception &error) {
        return failed(path, blame, error.what(), status);
    } catch (...) {
        return rh_fail(status, blame, "%s: the OpenVDB library failed without saying why", path);
    }
}

// -------------------------------------------------------------------------------------------------------- metadata

inline void put_facts(openvdb::MetaMap &map, const rh_frame_info &info)
{
    char hash[17];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)info.scene_hash);
    map.insertMeta("rheo_version", openvdb::StringMetadata(RHEO_VERSION));
    map.insertMeta("rheo_scene_hash", openvdb::StringMetadata(hash));
    map.insertMeta("rheo_unit", openvdb::StringMetadata("m"));
    map.insertMeta("rheo_up", openvdb::StringMetadata(info.z_up ? "z" : "y"));
    map.insertMeta("rheo_frame", openvdb::Int64Metadata(info.frame));
    map.insertMeta("rheo_time", openvdb::DoubleMetadata(info.time));
    map.insertMeta("rheo_fps", openvdb::DoubleMetadata(info.fps));
    map.insertMeta("rheo_cell", openvdb::DoubleMetadata(info.cell));
}

template <typename Meta, typename Value> void get_fact(const openvdb::MetaMap &map, const char *name, Value &value)
{
    if (auto found = map.getMetadata<Meta>(name)) value = Value(found->value());
}

inline rh_frame_info get_facts(const openvdb::GridBase &grid)
{
    rh_frame_info info = {};
    info.fps = 24;
    info.cell = grid.voxelSize().x();
    std::string hash = "0", up = "y";
    get_fact<openvdb::StringMetadata>(grid, "rheo_scene_hash", hash);
    get_fact<openvdb::StringMetadata>(grid, "rheo_up", up);
    get_fact<openvdb::Int64Metadata>(grid, "rheo_frame", info.frame);
    get_fact<openvdb::DoubleMetadata>(grid, "rheo_time", info.time);
    get_fact<openvdb::DoubleMetadata>(grid, "rheo_fps", info.fps);
    get_fact<openvdb::DoubleMetadata>(grid, "rheo_cell", info.cell);
    info.scene_hash = std::strtoull(hash.c_str(), nullptr, 16);
    info.z_up = up == "z";
    return info;
}

// Type by name from the descriptions; a grid of a type this library does not know must not hide the others.
inline std::string grid_type(openvdb::io::File &file, const openvdb::Name &name)
{
    try {
        return file.readGridMetadata(name)->valueType();
    } catch (const std::exception &) {
        return "unknown";
    }
}

// ---------------------------------------------------------------------------------------------------------- files

// A file to read, closed at the end of the scope (io/vdb_helper.h).
struct SafeFile {
    rh_vdb_safe file = {{0}, -1};
    ~SafeFile() { rh_vdb_safe_close(&file); }
};

// Told after every part of the work, from any thread; by throwing Stopped it ends the work.
using Step = std::function<void(double share)>;

// The same grids always give the same bytes (vdb_write.cc).
rh_code write_sealed(const char *path, const openvdb::GridCPtrVec &grids, const openvdb::MetaMap &facts,
                     const Step &step, rh_status *status);

inline rh_code write_sealed(const char *path, const openvdb::GridCPtrVec &grids, const rh_frame_info &info,
                            rh_status *status)
{
    openvdb::MetaMap facts;
    put_facts(facts, info);
    return write_sealed(path, grids, facts, nullptr, status);
}

}  // namespace rh_vdb
