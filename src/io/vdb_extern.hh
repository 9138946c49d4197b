// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Spares the compiler what libopenvdb holds already. A file that makes a grid needs the virtual functions of its class,
// and through them reading, writing, copying and counting of all its nodes: two thirds of the time to compile a file
// here, for code that is thrown away again when the program is linked. The library registers these classes and so has
// all of their virtual functions, whatever compiler and options it was built with; functions that are not virtual may
// have been inlined there and are left to each file. All other code is the same as without this header.
#pragma once

#pragma GCC visibility push(default)
#include <openvdb/openvdb.h>

#define RH_VDB_EXTERN_GRID(GRID)                                                                                       \
    extern template openvdb::GridBase::Ptr GRID::copyGrid();                                                           \
    extern template openvdb::GridBase::ConstPtr GRID::copyGrid() const;                                                \
    extern template openvdb::GridBase::Ptr GRID::copyGridWithNewTree() const;                                          \
    extern template openvdb::GridBase::ConstPtr GRID::copyGridReplacingMetadata(const openvdb::MetaMap &) const;       \
    extern template openvdb::GridBase::ConstPtr GRID::copyGridReplacingTransform(openvdb::math::Transform::Ptr) const; \
    extern template openvdb::GridBase::ConstPtr GRID::copyGridReplacingMetadataAndTransform(                           \
        const openvdb::MetaMap &, openvdb::math::Transform::Ptr) const;                                                \
    extern template openvdb::GridBase::Ptr GRID::deepCopyGrid() const;                                                 \
    extern template bool GRID::empty() const;                                                                          \
    extern template void GRID::clear();                                                                                \
    extern template void GRID::pruneGrid(float);                                                                       \
    extern template void GRID::clip(const openvdb::CoordBBox &);                                                       \
    extern template openvdb::Index64 GRID::activeVoxelCount() const;                                                   \
    extern template openvdb::CoordBBox GRID::evalActiveVoxelBoundingBox() const;                                       \
    extern template openvdb::Coord GRID::evalActiveVoxelDim() const;                                                   \
    extern template openvdb::Index64 GRID::memUsage() const;                                                           \
    extern template void GRID::setTree(openvdb::TreeBase::Ptr);                                                        \
    extern template void GRID::newTree();                                                                              \
    extern template void GRID::readTopology(std::istream &);                                                           \
    extern template void GRID::writeTopology(std::ostream &) const;                                                    \
    extern template void GRID::readBuffers(std::istream &);                                                            \
    extern template void GRID::readBuffers(std::istream &, const openvdb::CoordBBox &);                                \
    extern template void GRID::readNonresidentBuffers() const;                                                         \
    extern template void GRID::writeBuffers(std::ostream &) const;                                                     \
    extern template void GRID::print(std::ostream &, int) const;

#define RH_VDB_EXTERN_TREE(TREE)                                                              \
    extern template openvdb::TreeBase::Ptr TREE::copy() const;                                \
    extern template bool TREE::evalLeafBoundingBox(openvdb::CoordBBox &) const;               \
    extern template bool TREE::evalActiveVoxelBoundingBox(openvdb::CoordBBox &) const;        \
    extern template bool TREE::evalActiveVoxelDim(openvdb::Coord &) const;                    \
    extern template bool TREE::evalLeafDim(openvdb::Coord &) const;                           \
    extern template void TREE::readTopology(std::istream &, bool);                            \
    extern template void TREE::writeTopology(std::ostream &, bool) const;                     \
    extern template void TREE::readBuffers(std::istream &, bool);                             \
    extern template void TREE::readBuffers(std::istream &, const openvdb::CoordBBox &, bool); \
    extern template void TREE::readNonresidentBuffers() const;                                \
    extern template void TREE::writeBuffers(std::ostream &, bool) const;                      \
    extern template void TREE::print(std::ostream &, int) const;                              \
    extern template openvdb::Index32 TREE::leafCount() const;                                 \
    extern template std::vector<openvdb::Index32> TREE::nodeCount() const;                    \
    extern template openvdb::Index32 TREE::nonLeafCount() const;                              \
    extern template openvdb::Index64 TREE::activeLeafVoxelCount() const;                      \
    extern template openvdb::Index64 TREE::inactiveLeafVoxelCount() const;                    \
    extern template openvdb::Index64 TREE::activeVoxelCount() const;                          \
    extern template openvdb::Index64 TREE::inactiveVoxelCount() const;                        \
    extern template openvdb::Index64 TREE::activeTileCount() const;                           \
    extern template openvdb::Index64 TREE::memUsage() const;                                  \
    extern template void TREE::clipUnallocatedNodes();                                        \
    extern template openvdb::Index32 TREE::unallocatedLeafCount() const;                      \
    extern template openvdb::Metadata::Ptr TREE::getBackgroundValue() const;                  \
    extern template void TREE::getIndexRange(openvdb::CoordBBox &) const;

#define RH_VDB_EXTERN(GRID)  \
    RH_VDB_EXTERN_GRID(GRID) \
    RH_VDB_EXTERN_TREE(GRID::TreeType)

RH_VDB_EXTERN(openvdb::FloatGrid)
RH_VDB_EXTERN(openvdb::Int32Grid)
RH_VDB_EXTERN(openvdb::Int64Grid)
RH_VDB_EXTERN(openvdb::Vec3SGrid)
#pragma GCC visibility pop
