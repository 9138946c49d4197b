// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A points grid open for a visit: what vdb_points.cc (columns) and vdb_move.cc (positions, moving, deleting) share.
#pragma once
#include "io/vdb_data.hh"
#include "io/vdb_points_grid.hh"

#include <string>
#include <unordered_map>
#include <vector>

namespace rh_vdb {

using Leaf = openvdb::points::PointDataTree::LeafNodeType;

enum class Storage { plain, coded, text, position, unknown };

struct Attribute {
    openvdb::Name name;
    std::string stored;
    size_t place;  // in the leaf's set
    rh_lang_type type;
    Storage storage;
};

}  // namespace rh_vdb

struct rh_vdb_points {
    openvdb::points::PointDataGrid *grid;
    std::vector<rh_vdb::Leaf *> leaves;
    std::vector<int64_t> starts;  // first element of each leaf, and one more
    std::vector<rh_vdb::Attribute> attributes;
    std::vector<openvdb::Name> groups;
    std::unordered_map<openvdb::Index, std::string> texts;  // of all attributes of strings, by what is stored
    const rh_vdb_watch *watch;                              // of the data; NULL: nobody watches
};

namespace rh_vdb {

inline openvdb::Index end_of(const Leaf &leaf, openvdb::Index voxel) { return leaf.buffer()[voxel]; }
inline openvdb::Index leaf_count(const rh_vdb_points &p, size_t leaf)
{
    return openvdb::Index(p.starts[leaf + 1] - p.starts[leaf]);
}
inline char *bytes_of(openvdb::points::AttributeArray &array)
{
    return const_cast<char *>(array.constDataAsByteArray());
}

}  // namespace rh_vdb
