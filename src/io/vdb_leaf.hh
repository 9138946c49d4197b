// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Which leaf and voxel of a points grid a place belongs to: what writing and re-bucketing points have in common.
// Internal to io/.
#pragma once
#include "io/vdb_shared.hh"

constexpr double RH_FARTHEST_VOXEL = 1 << 23;  // beyond it a float position cannot tell neighbouring voxels apart

inline openvdb::Coord rh_nearest_voxel(const openvdb::Vec3d &p)
{
    return openvdb::Coord(int(std::floor(p.x() + 0.5)), int(std::floor(p.y() + 0.5)), int(std::floor(p.z() + 0.5)));
}

inline uint64_t rh_leaf_key(const openvdb::Coord &voxel)
{
    auto part = [](int x) { return uint64_t((x >> 3) + (1 << 20)); };
    return part(voxel.x()) << 42 | part(voxel.y()) << 21 | part(voxel.z());
}

inline openvdb::Coord rh_leaf_origin(uint64_t key)
{
    auto part = [](uint64_t x) { return (int(x & 0x1fffff) - (1 << 20)) * 8; };
    return openvdb::Coord(part(key >> 42), part(key >> 21), part(key));
}

inline bool rh_voxel_in_range(const openvdb::Vec3d &p)
{
    return std::fabs(p.x()) < RH_FARTHEST_VOXEL && std::fabs(p.y()) < RH_FARTHEST_VOXEL &&
           std::fabs(p.z()) < RH_FARTHEST_VOXEL;
}
