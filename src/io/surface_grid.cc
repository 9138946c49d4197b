// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A narrow band as OpenVDB grids: taking it over, files, volume. A leaf of ours is a leaf of OpenVDB's, so
// taking over is a copy. Signs of inactive voxels inside leaves are the band's own; only what is in no
// leaf is filled by flooding, for flooding inside a leaf trusts that signs change across active voxels only, and a
// field that is no distance (the literal kernel) may break that.
#include "io/surface_parts.hh"

#pragma GCC visibility push(default)
#include <openvdb/tools/Prune.h>
#include <openvdb/tools/SignedFloodFill.h>
#pragma GCC visibility pop

#include <memory>

namespace {

using openvdb::Coord;
using openvdb::FloatGrid;
using openvdb::FloatTree;
using openvdb::GridBase;
using rh_vdb::guarded;

// --- taking over -----------------------------------------------------------------------------------------------------

bool any_active(const rh_bits &bits)
{
    uint64_t any = 0;
    for (uint64_t layer : bits.layer) any |= layer;
    return any != 0;
}

template <typename Leaf>
std::unique_ptr<Leaf> copy_leaf(const rh_band &band, int32_t l, const void *values, typename Leaf::ValueType background)
{
    static_assert(Leaf::SIZE == RH_LEAF, "a leaf of ours is a leaf of OpenVDB's");
    const rh_tile at = band.at[l];
    auto leaf = std::make_unique<Leaf>(openvdb::PartialCreate(), Coord(8 * at.x, 8 * at.y, 8 * at.z), background);
    constexpr size_t bytes = RH_LEAF * sizeof(typename Leaf::ValueType);
    std::memcpy(static_cast<void *>(leaf->buffer().data()), static_cast<const char *>(values) + size_t(l) * bytes,
                bytes);
    typename Leaf::NodeMaskType mask;
    for (openvdb::Index x = 0; x < 8; x++) mask.template getWord<openvdb::Index64>(x) = band.active[l].layer[x];
    leaf->setValueMask(mask);
    return leaf;
}

// `all`: also leaves without active voxels, whose signs tell the flooding what is inside.
template <typename Tree>
typename Tree::Ptr copy_tree(const rh_band &band, const void *values, typename Tree::ValueType background, bool all)
{
    using Leaf = typename Tree::LeafNodeType;
    std::vector<std::unique_ptr<Leaf>> leaves(size_t(band.count));
    tbb::parallel_for(int32_t(0), band.count, [&](int32_t l) {
        if (all || any_active(band.active[l])) leaves[size_t(l)] = copy_leaf<Leaf>(band, l, values, background);
    });
    auto tree = std::make_shared<Tree>(background);
    openvdb::tree::ValueAccessor<Tree> accessor(*tree);
    for (auto &leaf : leaves)
        if (leaf) accessor.addLeaf(leaf.release());
    return tree;
}

template <typename Grid> GridBase::Ptr copy_values(const rh_band &band, const void *values)
{
    using Value = typename Grid::ValueType;
    return Grid::create(copy_tree<typename Grid::TreeType>(band, values, openvdb::zeroVal<Value>(), false));
}

GridBase::Ptr copy_channel(const rh_band &band, const rh_band_channel &channel)
{
    switch (channel.type) {
    case RH_POINT_F32: return copy_values<FloatGrid>(band, channel.data);
    case RH_POINT_I32: return copy_values<openvdb::Int32Grid>(band, channel.data);
    case RH_POINT_I64: return copy_values<openvdb::Int64Grid>(band, channel.data);
    case RH_POINT_VEC3F: return copy_values<openvdb::Vec3SGrid>(band, channel.data);
    case RH_POINT_MAT3F:
    case RH_POINT_GROUP: break;  // groups come as float
    }
    throw std::invalid_argument(std::string("cannot be carried to a surface: ") + channel.name);
}

void take_over(const rh_band &band, rh_surface_grid &grid)
{
    const auto transform = openvdb::math::Transform::createLinearTransform(band.voxel);
    auto tree = copy_tree<FloatTree>(band, band.value, band.background, true);
    openvdb::tools::signedFloodFill(*tree, /*threaded=*/true, /*grainSize=*/1, /*minLevel=*/1);
    openvdb::tools::pruneLevelSet(*tree);
    grid.surface = FloatGrid::create(tree);
    grid.surface->setName("surface");
    grid.surface->setGridClass(openvdb::GRID_LEVEL_SET);
    grid.surface->setTransform(transform);
    for (int c = 0; c < band.channel_count; c++) {
        auto channel = copy_channel(band, band.channels[c]);
        channel->setName(band.channels[c].name);
        channel->setTransform(transform);
        grid.channels.push_back(channel);
    }
}

// --- measure ---------------------------------------------------------------------------------------------------------

// The share of a voxel that is inside, smeared over `width` voxels to both sides of the surface; `distance` in voxels.
double share_inside(double distance, double width)
{
    if (distance <= -width) return 1;
    if (distance >= width) return 0;
    const double x = distance / width;
    return 0.5 * (1 - x - std::sin(M_PI * x) / M_PI);
}

// Smearing over a width w adds c w^2 to the volume (Steiner's formula: the volume of a shape grown by s is a cubic in
// s, and the smearing is symmetric), so two widths and an extrapolation give it without: exact for planes and spheres
// but for the lattice. The integral of x . n over the surface, OpenVDB's way, has an error that grows with the distance
// from the origin.
double voxel_inside(double distance) { return (4 * share_inside(distance, 1) - share_inside(distance, 2)) / 3; }

double voxels_inside(const FloatGrid &surface)
{
    const double voxel = surface.voxelSize().x();
    openvdb::tree::LeafManager<const FloatTree> leaves(surface.tree());
    std::vector<double> sums(leaves.leafCount());
    leaves.foreach ([&](const FloatTree::LeafNodeType &leaf, size_t l) {
        double sum = 0;
        for (openvdb::Index v = 0; v < FloatTree::LeafNodeType::SIZE; v++)
            sum += voxel_inside(double(leaf.getValue(v)) / voxel);
        sums[l] = sum;
    });
    auto tile = surface.tree().cbeginValueAll();
    tile.setMaxDepth(FloatTree::ValueAllCIter::LEAF_DEPTH - 1);
    for (; tile; ++tile)
        if (*tile < 0) sums.push_back(double(tile.getVoxelCount()));
    return rh_sum(sums.data(), int64_t(sums.size()));
}

// --- writing ---------------------------------------------------------------------------------------------------------

// y up -> z up: (x, y, z) -> (x, -z, y); OpenVDB multiplies rows from the left.
const openvdb::Mat3d turn(1, 0, 0, 0, 0, 1, 0, -1, 0);

bool is_colour(const GridBase &grid) { return rh_point_is_colour(grid.getName().c_str(), RH_POINT_VEC3F); }

openvdb::Vec3SGrid::Ptr turned_values(const openvdb::Vec3SGrid &grid)
{
    auto copy = grid.deepCopy();
    openvdb::tree::LeafManager<openvdb::Vec3STree> leaves(copy->tree());
    leaves.foreach ([](openvdb::Vec3STree::LeafNodeType &leaf, size_t) {
        for (auto voxel = leaf.beginValueOn(); voxel; ++voxel) {
            const openvdb::Vec3s v = *voxel;
            voxel.setValue(openvdb::Vec3s(v.x(), -v.z(), v.y()));
        }
    });
    return copy;
}

// A grid as it goes into the file; shares its tree with `grid` unless values have to be turned. The index space stays
// as it is and the transform does the turning: exact, and readers apply transforms anyway.
GridBase::Ptr dressed(const GridBase::Ptr &grid, const rh_frame_info &info)
{
    auto vectors = openvdb::gridPtrCast<openvdb::Vec3SGrid>(grid);
    GridBase::Ptr copy = vectors && info.z_up && !is_colour(*vectors) ? GridBase::Ptr(turned_values(*vectors))
                                                                      : grid->copyGrid();
    copy->setTransform(grid->transform().copy());
    if (info.z_up) copy->transform().postMult(turn);
    copy->setCreator("rheo");
    if (copy->getName() == "vel") copy->setVectorType(openvdb::VEC_CONTRAVARIANT_RELATIVE);
    rh_vdb::put_facts(*copy, info);
    return copy;
}

rh_code write_grids(const char *temporary, const rh_surface_grid &grid, const rh_frame_info &info, rh_status *status)
{
    openvdb::GridCPtrVec grids{dressed(grid.surface, info)};
    for (const auto &channel : grid.channels) grids.push_back(dressed(channel, info));
    return rh_vdb::write_sealed(temporary, grids, info, status);
}

// --- reading ---------------------------------------------------------------------------------------------------------

std::string list_of(const std::vector<GridBase::Ptr> &grids)
{
    std::string text;
    for (const auto &grid : grids)
        text += (text.empty() ? "" : ", ") + grid->getName() + " (" + grid->valueType() + ", " +
                GridBase::gridClassToString(grid->getGridClass()) + ")";
    return text.empty() ? "nothing" : text;
}

FloatGrid::Ptr choose_surface(const std::vector<GridBase::Ptr> &grids)
{
    FloatGrid::Ptr first;
    for (const auto &any : grids) {
        auto grid = openvdb::gridPtrCast<FloatGrid>(any);
        if (!grid || grid->getGridClass() != openvdb::GRID_LEVEL_SET) continue;
        if (grid->getName() == "surface") return grid;
        if (!first) first = grid;
    }
    return first;
}

// A channel of any origin, on the active voxels of the surface.
GridBase::Ptr adopt(const FloatGrid &surface, const GridBase &any)
{
    GridBase::Ptr result;
    any.apply<rh_vdb::ChannelGrids>([&](const auto &grid) {
        using Grid = std::decay_t<decltype(grid)>;
        using Tree = typename Grid::TreeType;
        auto make = [&] {
            return [reader = rh_vdb::Reader<Tree>(grid.tree())](const Coord &at) { return reader.getValue(at); };
        };
        result = Grid::create(rh_vdb::fill_like<Tree>(surface.tree(), make));
    });
    if (!result) return result;
    result->setName(any.getName());
    result->setTransform(surface.transform().copy());
    return result;
}

void adopt_channels(const char *path, const std::vector<GridBase::Ptr> &grids, rh_surface_grid &out)
{
    for (const auto &grid : grids) {
        if (grid == out.surface) continue;
        const std::string name = grid->getName();
        const bool fits = !name.empty() && name.size() < RH_POINT_NAME && out.channels.size() < RH_BAND_CHANNELS;
        auto channel = fits && grid->transform() == out.surface->transform() ? adopt(*out.surface, *grid) : nullptr;
        if (channel) out.channels.push_back(channel);
        else
            rh_log(RH_LOG_WARNING,
                   "%s: grid %s (%s) is left out: not a float, int32, int64 or vec3 on the voxels of the surface", path,
                   name.c_str(), grid->valueType().c_str());
    }
}

// All grids whose type this library knows.
std::vector<GridBase::Ptr> read_grids(openvdb::io::File &file)
{
    std::vector<GridBase::Ptr> grids;
    for (auto name = file.beginName(); name != file.endName(); ++name) {
        const std::string type = rh_vdb::grid_type(file, name.gridName());
        if (type == "float" || type == "int32" || type == "int64" || type == "vec3s")
            grids.push_back(file.readGrid(name.gridName()));
        else if (type != "unknown") grids.push_back(file.readGridMetadata(name.gridName()));
    }
    return grids;
}

rh_code read_file(const char *path, rh_surface_grid &out, rh_frame_info *info, rh_status *status)
{
    rh_vdb::SafeFile safe;
    RH_TRY(rh_vdb_safe_open(path, &safe.file, status));
    openvdb::io::File file(safe.file.path);
    file.open(/*delayLoad=*/false);
    const auto grids = read_grids(file);
    out.surface = choose_surface(grids);
    if (!out.surface)
        return rh_fail(status, RH_USER, "%s: found %s, expected a float grid of class level set", path,
                       list_of(grids).c_str());
    if (!out.surface->transform().isLinear() || !out.surface->hasUniformVoxels() || !(out.surface->background() > 0))
        return rh_fail(status, RH_USER, "%s: found a level set with stretched voxels or without a band, expected cubes",
                       path);
    if (info) *info = rh_vdb::get_facts(*out.surface);
    out.surface->setName("surface");
    out.surface->tree().voxelizeActiveTiles();
    adopt_channels(path, grids, out);
    return RH_OK;
}

}  // namespace

// Makes a grid and fills it with `work`; gives nothing back unless that succeeds.
template <typename Work>
static rh_code make(const char *path, rh_code blame, rh_surface_grid **out, rh_status *status, Work work)
{
    *out = nullptr;
    return guarded(path, blame, status, [&] {
        auto grid = std::make_unique<rh_surface_grid>();
        RH_TRY(work(*grid));
        *out = grid.release();
        return RH_OK;
    });
}

extern "C" rh_code rh_surface_grid_create(const rh_band *band, rh_surface_grid **out, rh_status *status)
{
    *out = nullptr;
    if (!(band->voxel > 0) || !(band->background > 0))
        return rh_fail(status, RH_USER, "surface: found voxels of %g m and a band of %g m, expected more than 0",
                       band->voxel, double(band->background));
    return make("surface", RH_NUMERIC, out, status, [&](rh_surface_grid &grid) {
        take_over(*band, grid);
        return RH_OK;
    });
}

extern "C" void rh_surface_grid_free(rh_surface_grid *grid) { delete grid; }

extern "C" int64_t rh_surface_grid_active(const rh_surface_grid *grid)
{
    return int64_t(grid->surface->activeVoxelCount());
}

extern "C" double rh_surface_grid_volume(const rh_surface_grid *grid)
{
    double voxels = 0;
    guarded("surface", RH_NUMERIC, nullptr, [&] {
        voxels = voxels_inside(*grid->surface);
        return RH_OK;
    });
    return voxels * std::pow(grid->surface->voxelSize().x(), 3);
}

extern "C" rh_code rh_surface_grid_write(const char *path, const rh_surface_grid *grid, const rh_frame_info *info,
                                         rh_status *status)
{
    char temporary[RH_PATH_MAX];
    RH_TRY(rh_file_temporary(path, temporary, status));
    const rh_code code = guarded(path, RH_IO, status, [&] { return write_grids(temporary, *grid, *info, status); });
    if (code == RH_OK) return rh_file_commit(temporary, path, status);
    rh_file_discard(temporary);
    return code;
}

extern "C" rh_code rh_surface_grid_read(const char *path, rh_surface_grid **out, rh_frame_info *info, rh_status *status)
{
    return make(path, RH_USER, out, status, [&](rh_surface_grid &grid) { return read_file(path, grid, info, status); });
}
