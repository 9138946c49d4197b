// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What the files behind io/surface_grid.h share. Channels always have the surface's transform and active voxels.
#pragma once
#include "io/vdb_shared.hh"

extern "C" {
#include "io/surface_grid.h"
}

#pragma GCC visibility push(default)
#include <openvdb/tree/LeafManager.h>
#include <openvdb/tree/ValueAccessor.h>
#pragma GCC visibility pop

struct rh_surface_grid {
    openvdb::FloatGrid::Ptr surface;
    std::vector<openvdb::GridBase::Ptr> channels;  // of ChannelGrids
};

namespace rh_vdb {

using ChannelGrids = openvdb::TypeList<openvdb::FloatGrid, openvdb::Int32Grid, openvdb::Int64Grid, openvdb::Vec3SGrid>;

// Accessors of one loop over trees that nobody changes meanwhile: registering each with its tree would cost a lock.
template <typename Tree> using Reader = openvdb::tree::ValueAccessor<const Tree, /*IsSafe=*/false>;

// A tree with the active voxels of `surface`, zero elsewhere. `make` is called for each leaf and returns what gives the
// value at coordinates: it may hold readers.
template <typename Tree, typename Make> typename Tree::Ptr fill_like(const openvdb::FloatTree &surface, Make make)
{
    auto tree = std::make_shared<Tree>(surface, openvdb::zeroVal<typename Tree::ValueType>(), openvdb::TopologyCopy());
    openvdb::tree::LeafManager<Tree> leaves(*tree);
    leaves.foreach ([&](typename Tree::LeafNodeType &leaf, size_t) {
        const auto value = make();
        auto *data = leaf.buffer().data();
        for (auto voxel = leaf.cbeginValueOn(); voxel; ++voxel) data[voxel.pos()] = value(voxel.getCoord());
    });
    return tree;
}

}  // namespace rh_vdb
