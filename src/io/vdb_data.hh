// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What the files behind io/vdb_data.h share.
#pragma once
#include "io/vdb_shared.hh"

extern "C" {
#include "io/vdb_data.h"
}

#include <atomic>
#include <mutex>

namespace rh_vdb {

struct Entry {
    openvdb::GridBase::Ptr grid;
    openvdb::GridBase::ConstPtr old;  // what readers see, when it is not the grid itself
    std::string name, value;
};

}  // namespace rh_vdb

struct rh_vdb_data {
    std::vector<rh_vdb::Entry> entries;
    const rh_vdb_watch *watch = nullptr;
    openvdb::MetaMap facts;  // of the first file
};

namespace rh_vdb {

// Grids of a file may share one tree; what is written to one must not appear in the other.
inline void own_tree(openvdb::GridBase &grid)
{
    if (grid.baseTreePtr().use_count() > 2) grid.setTree(grid.constBaseTree().copy());
}

// Numbers for threads: a visitor's scratch belongs to a slot.
class Slots {
  public:
    explicit Slots(int count)
    {
        for (int i = count; i-- > 0;) free.push_back(i);
    }
    int take()
    {
        std::lock_guard<std::mutex> lock(mutex);
        if (free.empty()) throw std::runtime_error("more threads than were asked for");
        const int slot = free.back();
        free.pop_back();
        return slot;
    }
    void give(int slot)
    {
        std::lock_guard<std::mutex> lock(mutex);
        free.push_back(slot);
    }

  private:
    std::mutex mutex;
    std::vector<int> free;
};

// Tells whoever watches how far the work is, from any thread, and ends it where that is wanted.
class Watch {
  public:
    Watch(const rh_vdb_watch *who, const char *what, int64_t parts) : watch(who), stage(what), count(parts) {}
    void step() { at(double(++done) / double(count)); }
    void at(double share) const
    {
        if (watch && !watch->go_on(watch->user, stage, share)) throw Stopped();
    }

  private:
    const rh_vdb_watch *watch;
    const char *stage;
    int64_t count;
    std::atomic<int64_t> done{0};
};

// Calls work(slot, block) for all blocks, between the visitor's prepare and finish.
template <typename Work>
rh_code for_blocks(const rh_vdb_visitor &visitor, const rh_vdb_watch *who, int64_t count, rh_status *status, Work work)
{
    RH_TRY(visitor.prepare(visitor.user, count, status));
    Watch watch(who, "execute", count);
    Slots slots(rh_threads());
    tbb::parallel_for(tbb::blocked_range<int64_t>(0, count, 1), [&](const tbb::blocked_range<int64_t> &range) {
        const int slot = slots.take();
        for (int64_t block = range.begin(); block < range.end(); block++) work(slot, block), watch.step();
        slots.give(slot);
    });
    return visitor.finish(visitor.user, status);
}

// Scratch of a slot, one buffer for each column.
using Scratch = std::vector<std::vector<char>>;
inline char *room(std::vector<char> &buffer, size_t bytes)
{
    if (buffer.size() < bytes) buffer.resize(bytes);
    return buffer.data();
}

// The column whose element `first` is at `data`. Done in whole numbers: the address may lie outside of all memory.
inline rh_lang_column counted_from(const void *data, int64_t first, int64_t stride)
{
    return {reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(data) - uintptr_t(first * stride)), stride};
}

}  // namespace rh_vdb
