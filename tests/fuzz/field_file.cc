// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// See field_file.h.
#include "io/vdb_extern.hh"

#include "field_file.h"

namespace {

template <typename Grid>
openvdb::GridBase::Ptr make(const field_file_grid &g, typename Grid::ValueType background,
                            typename Grid::ValueType value)
{
    auto grid = Grid::create(background);
    for (int i = 0; i < g.leaves; i++) grid->tree().setValue(openvdb::Coord(g.at[i][0], g.at[i][1], g.at[i][2]), value);
    if (g.tile) grid->tree().addTile(1, openvdb::Coord(64, 0, 0), value, true);
    return grid;
}

openvdb::GridBase::Ptr make_any(const field_file_grid &g)
{
    using openvdb::Vec3s;
    if (g.type == 0) return make<openvdb::FloatGrid>(g, g.background, g.value);
    if (g.type == 1) return make<openvdb::Vec3SGrid>(g, Vec3s(g.background), Vec3s(g.value, 0, -g.value));
    return make<openvdb::Int32Grid>(g, 0, 7);
}

}  // namespace

extern "C" void field_file_write(const char *path, const field_file_grid *grids, int count)
{
    openvdb::initialize();
    openvdb::GridPtrVec list;
    for (int i = 0; i < count; i++) {
        const field_file_grid &g = grids[i];
        auto grid = make_any(g);
        grid->setName(g.name);
        if (g.kind) grid->insertMeta("rheo_kind", openvdb::StringMetadata(g.kind));
        if (g.dimension_is_text) grid->insertMeta("rheo_dimension", openvdb::StringMetadata("3"));
        else grid->insertMeta("rheo_dimension", openvdb::Int64Metadata(g.dimension));
        grid->insertMeta("rheo_cell", openvdb::DoubleMetadata(g.cell));
        grid->insertMeta("rheo_up", openvdb::StringMetadata(g.z_up ? "z" : "y"));
        list.push_back(grid);
    }
    openvdb::io::File file(path);
    file.write(list);
}
