// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A tile of ours is a leaf of OpenVDB's (in two dimensions one layer of it), with x and z in each other's place. With z
// up the transform does the turning, as for surfaces, and vectors are turned; such a grid is not called staggered, for
// its faces are no longer the lower ones of the file's axes.
#include "io/surface_parts.hh"

extern "C" {
#include "base/arena.h"
#include "io/vdb_fields.h"
}

#include <memory>

namespace {

using openvdb::Coord;
using openvdb::FloatGrid;
using openvdb::GridBase;
using openvdb::Vec3s;
using openvdb::Vec3SGrid;
using rh_vdb::guarded;

const char *const kind_names[] = {"float", "vec3", "faces"};  // by rh_field_kind
// y up -> z up: (x, y, z) -> (x, -z, y); OpenVDB multiplies rows from the left.
const openvdb::Mat3d turn(1, 0, 0, 0, 0, 1, 0, -1, 0);

openvdb::math::Transform::Ptr transform_of(const rh_fields &fields, bool z_up)
{
    auto transform = openvdb::math::Transform::createLinearTransform(fields.h);
    const double half = 0.5 * fields.h;
    transform->postTranslate(openvdb::Vec3d(half, half, fields.dimension == 3 ? half : 0));
    if (z_up) transform->postMult(turn);
    return transform;
}

struct Cells {
    const rh_field &field;
    int64_t first;  // of the tile
    bool z_up;
};

void take(const Cells &cells, int c, float &value) { value = cells.field.axis[0][cells.first + c]; }

void take(const Cells &cells, int c, Vec3s &value)
{
    const int64_t at = cells.first + c;
    const Vec3s v(cells.field.axis[0][at], cells.field.axis[1][at], cells.field.axis[2][at]);
    value = cells.z_up ? Vec3s(v.x(), -v.z(), v.y()) : v;
}

void put(const Cells &cells, int c, float value) { cells.field.axis[0][cells.first + c] = value; }

void put(const Cells &cells, int c, const Vec3s &v)
{
    const Vec3s own = cells.z_up ? Vec3s(v.x(), v.z(), -v.y()) : v;
    for (int a = 0; a < 3; a++) cells.field.axis[a][cells.first + c] = own[a];
}

// What stands in cells without a value of their own, in the file's axes.
void background_of(const rh_field &field, bool, float &value) { value = field.background; }
void background_of(const rh_field &field, bool z_up, Vec3s &value)
{
    value = Vec3s(field.background, z_up ? -field.background : field.background, field.background);
}

Coord corner_of(rh_tile at) { return Coord(8 * at.x, 8 * at.y, 8 * at.z); }

template <typename Grid> GridBase::Ptr make_grid(const rh_fields &fields, const rh_field &field, bool z_up)
{
    using Tree = typename Grid::TreeType;
    using Leaf = typename Tree::LeafNodeType;
    typename Grid::ValueType background;
    background_of(field, z_up, background);
    std::vector<std::unique_ptr<Leaf>> leaves{size_t(fields.count)};
    tbb::parallel_for(int32_t(0), fields.count, [&](int32_t t) {
        auto leaf = std::make_unique<Leaf>(corner_of(fields.at[t]), background);
        const Cells cells = {field, int64_t(t) * fields.cells, z_up};
        for (int c = 0; c < fields.cells; c++) {
            typename Grid::ValueType value;
            take(cells, c, value);
            const auto place = openvdb::Index(64 * (c & 7) + 8 * (c >> 3 & 7) + (c >> 6));
            if (std::memcmp(&value, &background, sizeof value) != 0) leaf->setValueOn(place, value);
        }
        if (!leaf->isEmpty()) leaves[size_t(t)] = std::move(leaf);
    });
    auto tree = std::make_shared<Tree>(background);
    openvdb::tree::ValueAccessor<Tree> accessor(*tree);
    for (auto &leaf : leaves)
        if (leaf) accessor.addLeaf(leaf.release());
    return Grid::create(tree);
}

void add_grids(const rh_owned_fields &owned, const rh_frame_info &info, openvdb::GridCPtrVec &grids)
{
    const rh_fields &fields = *owned.fields;
    const bool z_up = info.z_up != 0;
    for (int i = 0; i < fields.field_count; i++) {
        const rh_field &field = fields.items[i];
        auto grid = field.kind == RH_FIELD_FLOAT ? make_grid<FloatGrid>(fields, field, z_up)
                                                 : make_grid<Vec3SGrid>(fields, field, z_up);
        grid->setName(owned.owner ? std::string(owned.owner) + "." + field.name : field.name);
        grid->setCreator("rheo");
        grid->setTransform(transform_of(fields, z_up));
        grid->setGridClass(field.kind == RH_FIELD_FACES && !z_up ? openvdb::GRID_STAGGERED : openvdb::GRID_FOG_VOLUME);
        if (field.kind == RH_FIELD_VEC3) grid->setGridClass(openvdb::GRID_UNKNOWN);
        rh_vdb::put_facts(*grid, info);
        grid->insertMeta("rheo_kind", openvdb::StringMetadata(kind_names[field.kind]));
        grid->insertMeta("rheo_dimension", openvdb::Int64Metadata(fields.dimension));
        grids.push_back(grid);
    }
}

rh_code write_fields(const char *temporary, const rh_owned_fields *all, int count, const rh_frame_info &info,
                     rh_status *status)
{
    openvdb::GridCPtrVec grids;
    for (int i = 0; i < count; i++) add_grids(all[i], info, grids);
    return rh_vdb::write_sealed(temporary, grids, info, status);
}

// --- reading ---------------------------------------------------------------------------------------------------------

struct Found {
    std::string owner, name;  // of "owner.name"; the first empty where there is none
    GridBase::Ptr grid;
    rh_field_kind kind;
    float background;
};

// The kind of field that a grid of ours says it is; -1: none.
int kind_of(const GridBase &grid)
{
    std::string kind;
    rh_vdb::get_fact<openvdb::StringMetadata>(grid, "rheo_kind", kind);
    for (int k = RH_FIELD_FLOAT; k <= RH_FIELD_FACES; k++)
        if (kind == kind_names[k] && grid.valueType() == (k == RH_FIELD_FLOAT ? "float" : "vec3s")) return k;
    return -1;
}

float background_of(const GridBase &grid)
{
    if (auto floats = dynamic_cast<const FloatGrid *>(&grid)) return floats->background();
    return dynamic_cast<const Vec3SGrid &>(grid).background().x();
}

std::vector<Found> find_fields(openvdb::io::File &file)
{
    std::vector<Found> found;
    for (auto name = file.beginName(); name != file.endName(); ++name) {
        const std::string type = rh_vdb::grid_type(file, name.gridName());
        if (type != "float" && type != "vec3s") continue;
        auto grid = file.readGrid(name.gridName());
        const int kind = kind_of(*grid);
        if (kind < 0) continue;
        const std::string whole = grid->getName();
        const size_t dot = whole.find('.');
        const bool owned = dot != std::string::npos;
        found.push_back({owned ? whole.substr(0, dot) : "", owned ? whole.substr(dot + 1) : whole, grid,
                         rh_field_kind(kind), background_of(*grid)});
    }
    return found;
}

// Those that were asked for, each name once.
std::vector<Found> choose(const std::vector<Found> &all, const char *owner)
{
    std::vector<Found> chosen;
    for (const auto &one : all) {
        bool wanted = !owner || one.owner.empty() || one.owner == owner;
        for (const auto &other : chosen) wanted = wanted && other.name != one.name;
        if (wanted) chosen.push_back(one);
    }
    return chosen;
}

using FieldGrids = openvdb::TypeList<FloatGrid, Vec3SGrid>;

void list_tiles(const GridBase &any, std::vector<rh_tile> &keys)
{
    any.apply<FieldGrids>([&](const auto &grid) {
        for (auto leaf = grid.tree().cbeginLeaf(); leaf; ++leaf) {
            const Coord at = leaf->origin();
            keys.push_back({at.x() >> 3, at.y() >> 3, at.z() >> 3});
        }
    });
}

void fill(const GridBase &any, const rh_fields &fields, const rh_field &field, bool z_up)
{
    any.apply<FieldGrids>([&](const auto &grid) {
        for (int32_t t = 0; t < fields.count; t++) {
            const auto *leaf = grid.tree().probeConstLeaf(corner_of(fields.at[t]));
            const Cells cells = {field, int64_t(t) * fields.cells, z_up};
            for (int c = 0; leaf && c < fields.cells; c++)
                put(cells, c, leaf->getValue(openvdb::Index(64 * (c & 7) + 8 * (c >> 3 & 7) + (c >> 6))));
        }
    });
}

struct OwnArena {
    rh_arena arena;
    OwnArena() { rh_arena_init(&arena, "io.fields"); }
    ~OwnArena() { rh_arena_free(&arena); }
};

rh_code read_fields(const char *path, const char *owner, rh_fields &fields, rh_frame_info *info, rh_status *status)
{
    rh_vdb::SafeFile safe;
    RH_TRY(rh_vdb_safe_open(path, &safe.file, status));
    openvdb::io::File file(safe.file.path);
    file.open(/*delayLoad=*/false);
    const auto found = choose(find_fields(file), owner);
    if (found.empty())
        return rh_fail(status, RH_USER, "%s: no field%s%s that Rheo wrote is in it", path, owner ? " of " : "",
                       owner ? owner : "");
    const rh_frame_info facts = rh_vdb::get_facts(*found[0].grid);
    int64_t dimension = 3;
    rh_vdb::get_fact<openvdb::Int64Metadata>(*found[0].grid, "rheo_dimension", dimension);
    if (!(facts.cell > 0) || !std::isfinite(facts.cell) || (dimension != 2 && dimension != 3))
        return rh_fail(status, RH_USER, "%s: damaged: a field of %lld dimensions, cells of %g m", path,
                       (long long)dimension, facts.cell);
    rh_fields_init(&fields, int(dimension), facts.cell);
    OwnArena scratch;
    std::vector<rh_tile> keys;
    for (const auto &one : found) {
        RH_TRY(rh_fields_add(&fields, one.name.c_str(), one.kind, one.background, status));
        list_tiles(*one.grid, keys);
    }
    rh_tiles tiles;
    const rh_code code = rh_tiles_from_keys(&tiles, int(dimension), facts.cell, keys.data(), int64_t(keys.size()),
                                            &scratch.arena, status);
    if (code != RH_OK) return rh_status_prefix(status, "%s: damaged", path), code;
    RH_TRY(rh_fields_carry(&fields, &tiles, status));
    for (size_t i = 0; i < found.size(); i++) fill(*found[i].grid, fields, fields.items[i], facts.z_up != 0);
    if (info) *info = facts;
    return RH_OK;
}

}  // namespace

extern "C" rh_code rh_vdb_write_fields(const char *path, const rh_owned_fields *all, int count,
                                       const rh_frame_info *info, rh_status *status)
{
    char temporary[RH_PATH_MAX];
    RH_TRY(rh_file_temporary(path, temporary, status));
    const rh_code code = guarded(path, RH_IO, status,
                                 [&] { return write_fields(temporary, all, count, *info, status); });
    if (code == RH_OK) return rh_file_commit(temporary, path, status);
    rh_file_discard(temporary);
    return code;
}

extern "C" rh_code rh_vdb_read_fields(const char *path, const char *owner, rh_fields *fields, rh_frame_info *info,
                                      rh_status *status)
{
    rh_fields_init(fields, 3, 1);
    const rh_code code = guarded(path, RH_USER, status,
                                 [&] { return read_fields(path, owner, *fields, info, status); });
    if (code != RH_OK) rh_fields_free(fields);
    return code;
}
