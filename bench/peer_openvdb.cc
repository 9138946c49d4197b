// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// See peer_openvdb.h. Nothing is tuned for or against the peer: default grain, the house's optimisation and instruction
// set. Its least radius is 1.5 voxels unless told otherwise; at a voxel of half the spacing every particle is smaller
// than that and would be left out.
#include "peer_openvdb.h"

#include <chrono>
#include <cstdio>
#include <exception>
#include <tbb/global_control.h>

// The house hides symbols; OpenVDB's templates must share their static members with its library (src/io/vdb.cc).
#pragma GCC visibility push(default)
#include <openvdb/openvdb.h>
#include <openvdb/tools/ParticlesToLevelSet.h>
#pragma GCC visibility pop

namespace {

constexpr double half_width = 3, least_radius = 0.1;  // voxels

struct Points {
    using PosType = openvdb::Vec3R;
    const float *positions, *velocities;
    std::size_t count;

    std::size_t size() const { return count; }
    void getPos(std::size_t i, openvdb::Vec3R &out) const
    {
        out = openvdb::Vec3R(positions[3 * i], positions[3 * i + 1], positions[3 * i + 2]);
    }
    void getAtt(std::size_t i, openvdb::Vec3f &out) const { out = openvdb::Vec3f(velocities + 3 * i); }
};

void describe(const openvdb::FloatGrid &grid, bench_peer_result *out)
{
    out->active = static_cast<int64_t>(grid.activeVoxelCount());
    out->leaves = static_cast<int64_t>(grid.tree().leafCount());
    out->bytes += static_cast<int64_t>(grid.memUsage());
}

template <typename Attribute> bool rasterise(const Points &points, float radius, double voxel, bench_peer_result *out)
{
    auto start = std::chrono::steady_clock::now();
    auto grid = openvdb::createLevelSet<openvdb::FloatGrid>(voxel, half_width);
    openvdb::tools::ParticlesToLevelSet<openvdb::FloatGrid, Attribute> raster(*grid);
    raster.setRmin(least_radius);
    raster.rasterizeSpheres(points, radius);
    raster.finalize(true);
    out->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (raster.attributeGrid()) out->bytes = static_cast<int64_t>(raster.attributeGrid()->memUsage());
    describe(*grid, out);
    if (raster.ignoredParticles())
        std::snprintf(out->message, sizeof out->message, "OpenVDB left out points because of their radius");
    return !raster.ignoredParticles();
}

}  // namespace

extern "C" bool bench_peer_openvdb(const float *positions, const float *velocities, int64_t count, float radius,
                                   double voxel, int threads, bench_peer_result *out)
{
    *out = bench_peer_result{};
    try {
        openvdb::initialize();
        tbb::global_control limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
        Points points{positions, velocities, static_cast<std::size_t>(count)};
        return velocities ? rasterise<openvdb::Vec3f>(points, radius, voxel, out)
                          : rasterise<void>(points, radius, voxel, out);
    } catch (const std::exception &error) {
        std::snprintf(out->message, sizeof out->message, "OpenVDB: %s", error.what());
        return false;
    }
}
