// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The mesh of a level set: OpenVDB's mesher (dual contouring; merges cells where the surface is flat), whose polygons
// come in the order of leaves whatever the number of threads. Added here: orientation, normals, the channels' values at
// the vertices.
#include "io/surface_parts.hh"

#pragma GCC visibility push(default)
#include <openvdb/tools/Interpolation.h>
#include <openvdb/tools/VolumeToMesh.h>
#ifdef RHEO_VDB_HAS_MESHER  // two thirds of the time to compile this file; CMakeLists.txt looks whether it is there
extern template void openvdb::tools::VolumeToMesh::operator()(const openvdb::FloatGrid &);
#endif
#pragma GCC visibility pop

#include <array>
#include <type_traits>

namespace {

using openvdb::Coord;
using openvdb::FloatGrid;
using openvdb::FloatTree;
using openvdb::Vec3d;
using openvdb::tools::VolumeToMesh;
namespace internal = openvdb::tools::volume_to_mesh_internal;

// The mesher counts vertices in 32 bits and does not look whether that is enough, so they are counted before: as many
// as its table gives to the signs at the corners of a cell, four at most.
int64_t count_vertices(const FloatTree &tree)
{
    openvdb::tree::LeafManager<const FloatTree> leaves(tree);
    std::vector<double> counts(leaves.leafCount());
    leaves.foreach ([&](const FloatTree::LeafNodeType &leaf, size_t l) {
        rh_vdb::Reader<FloatTree> reader(tree);
        for (auto voxel = leaf.cbeginValueOn(); voxel; ++voxel)
            counts[l] += internal::sEdgeGroupTable[internal::evalCellSigns(reader, voxel.getCoord(), 0.0f)][0];
    });
    return int64_t(rh_sum(counts.data(), int64_t(counts.size())));
}

rh_code check_size(const FloatGrid &surface, int64_t most, rh_status *status)
{
    if (int64_t(surface.activeVoxelCount()) <= most / 4) return RH_OK;
    const int64_t vertices = count_vertices(surface.tree());
    if (vertices <= most) return RH_OK;
    return rh_fail(
        status, RH_USER,
        "surface: its mesh would have %lld vertices, expected at most %lld: use larger voxels, or only the level set",
        (long long)vertices, (long long)most);
}

// --- polygons --------------------------------------------------------------------------------------------------------

template <typename T> T *take(size_t count, rh_status *status)
{
    return static_cast<T *>(rh_alloc(count * sizeof(T), "surface.mesh", status));
}

// Where the polygons of each leaf go.
struct Places {
    std::vector<size_t> triangle{0}, quad{0};

    explicit Places(const VolumeToMesh &mesh)
    {
        for (size_t n = 0; n < mesh.polygonPoolListSize(); n++) {
            triangle.push_back(triangle.back() + mesh.polygonPoolList()[n].numTriangles());
            quad.push_back(quad.back() + mesh.polygonPoolList()[n].numQuads());
        }
    }
};

// Corners in the given order or turned round.
template <size_t N, typename Polygon> void put_corners(const Polygon &from, bool reverse, uint32_t *to)
{
    for (size_t k = 0; k < N; k++) to[k] = from[int(reverse ? N - 1 - k : k)];
}

// OpenVDB's polygons are clockwise from outside, unless the transform mirrors. None has a corner twice, with adaptivity
// neither: such ones were reduced or left out by the mesher, both without opening an edge.
void copy_polygons(const VolumeToMesh &mesh, const Places &places, bool reverse, rh_surface_mesh &result)
{
    tbb::parallel_for(size_t(0), mesh.polygonPoolListSize(), [&](size_t n) {
        const openvdb::tools::PolygonPool &pool = mesh.polygonPoolList()[n];
        for (size_t i = 0; i < pool.numTriangles(); i++)
            put_corners<3>(pool.triangle(i), reverse, result.triangle[places.triangle[n] + i]);
        for (size_t i = 0; i < pool.numQuads(); i++)
            put_corners<4>(pool.quad(i), reverse, result.quad[places.quad[n] + i]);
    });
}

rh_code copy_shape(const VolumeToMesh &mesh, bool reverse, rh_surface_mesh &result, rh_status *status)
{
    const Places places(mesh);
    const size_t vertices = mesh.pointListSize();
    result.position = take<rh_vec3>(vertices, status);
    result.normal = take<rh_vec3>(vertices, status);
    result.triangle = take<uint32_t[3]>(places.triangle.back(), status);
    result.quad = take<uint32_t[4]>(places.quad.back(), status);
    if (!result.position || !result.normal || !result.triangle || !result.quad) return RH_MEMORY;
    result.vertex_count = int64_t(vertices);
    result.triangle_count = int64_t(places.triangle.back());
    result.quad_count = int64_t(places.quad.back());
    static_assert(sizeof(openvdb::Vec3s) == sizeof(rh_vec3), "vectors of three floats");
    if (vertices > 0) std::memcpy(result.position, mesh.pointList().get(), vertices * sizeof(rh_vec3));
    copy_polygons(mesh, places, reverse, result);
    return RH_OK;
}

// --- values at vertices ----------------------------------------------------------------------------------------------

// Runs `work(vertex, its place in the grid, a reader)` for all vertices.
template <typename Tree, typename Work>
void at_vertices(const rh_surface_mesh &result, const openvdb::math::Transform &transform, const Tree &tree, Work work)
{
    tbb::parallel_for(tbb::blocked_range<int64_t>(0, result.vertex_count, RH_BLOCK), [&](const auto &range) {
        rh_vdb::Reader<Tree> reader(tree);
        for (int64_t v = range.begin(); v < range.end(); v++) {
            const rh_vec3 p = result.position[v];
            work(v, transform.worldToIndex(Vec3d(p.x, p.y, p.z)), reader);
        }
    });
}

// From differences over a voxel of the interpolated distance. Without any slope there is no direction: up.
void fill_normals(const FloatGrid &surface, rh_surface_mesh &result)
{
    const auto &transform = surface.transform();
    at_vertices(result, transform, surface.tree(),
                [&](int64_t v, const Vec3d &at, const rh_vdb::Reader<FloatTree> &reader) {
                    Vec3d slope;
                    for (int a = 0; a < 3; a++) {
                        Vec3d step(0.0);
                        step[a] = 0.5;
                        slope[a] = double(openvdb::tools::BoxSampler::sample(reader, at + step)) -
                                   double(openvdb::tools::BoxSampler::sample(reader, at - step));
                    }
                    slope = transform.baseMap()->applyIJT(slope);
                    const double length = slope.length();
                    result.normal[v] = length > 0 && std::isfinite(length)
                                           ? rh_v3(float(slope.x() / length), float(slope.y() / length),
                                                   float(slope.z() / length))
                                           : rh_v3(0, 1, 0);
                });
}

struct Corner {
    Coord at;
    double weight;
};

// The eight voxels around a place.
std::array<Corner, 8> corners_around(const Vec3d &at)
{
    std::array<Corner, 8> corners;
    const Coord low = Coord::floor(at);
    const Vec3d f = at - low.asVec3d();
    for (int c = 0; c < 8; c++) {
        const int x = c >> 2, y = c >> 1 & 1, z = c & 1;
        corners[size_t(c)] = {low.offsetBy(x, y, z),
                              (x ? f.x() : 1 - f.x()) * (y ? f.y() : 1 - f.y()) * (z ? f.z() : 1 - f.z())};
    }
    return corners;
}

// Numbers are interpolated between the active voxels around the vertex; labels are those of the nearest. Zero when none
// is active.
template <typename Tree> typename Tree::ValueType value_at(const Vec3d &at, const rh_vdb::Reader<Tree> &reader)
{
    using Value = typename Tree::ValueType;
    constexpr bool label = std::is_integral<Value>::value;
    using Sum = std::conditional_t<label, Value, std::conditional_t<std::is_same<Value, float>::value, double, Vec3d>>;
    Sum sum = openvdb::zeroVal<Sum>();
    double weights = 0, heaviest = -1;
    for (const Corner &corner : corners_around(at)) {
        Value value;
        if (!reader.probeValue(corner.at, value)) continue;
        if constexpr (label) {
            if (corner.weight > heaviest) sum = value, heaviest = corner.weight;
        } else {
            // A vertex may lie exactly on the border of its cell, with all weight on voxels that are not active.
            const double weight = std::max(corner.weight, 1e-9);
            sum += Sum(value) * weight, weights += weight;
        }
    }
    if constexpr (label) return sum;
    else return weights > 0 ? Value(sum * (1 / weights)) : openvdb::zeroVal<Value>();
}

template <typename Grid> constexpr rh_point_type type_of()
{
    using Value = typename Grid::ValueType;
    if (std::is_same<Value, float>::value) return RH_POINT_F32;
    if (std::is_same<Value, int32_t>::value) return RH_POINT_I32;
    return std::is_same<Value, int64_t>::value ? RH_POINT_I64 : RH_POINT_VEC3F;
}

rh_code add_channel(const openvdb::GridBase &channel, rh_surface_mesh &result, rh_status *status)
{
    rh_code code = RH_OK;
    channel.apply<rh_vdb::ChannelGrids>([&](const auto &grid) {
        using Grid = std::decay_t<decltype(grid)>;
        using Tree = typename Grid::TreeType;
        auto *data = take<typename Grid::ValueType>(size_t(result.vertex_count), status);
        if (!data) {
            code = RH_MEMORY;
            return;
        }
        rh_band_channel &out = result.channels[result.channel_count++];
        snprintf(out.name, sizeof out.name, "%s", grid.getName().c_str());
        out.type = type_of<Grid>();
        out.data = data;
        at_vertices(result, grid.transform(), grid.tree(),
                    [&](int64_t v, const Vec3d &at, const rh_vdb::Reader<Tree> &reader) {
                        data[v] = value_at<Tree>(at, reader);
                    });
    });
    return code;
}

rh_code make_mesh(const rh_surface_grid &grid, double adaptivity, int64_t most, rh_surface_mesh &result,
                  rh_status *status)
{
    RH_TRY(check_size(*grid.surface, most, status));
    {
        VolumeToMesh mesh(/*isovalue=*/0, adaptivity);
        mesh(*grid.surface);
        RH_TRY(copy_shape(mesh, grid.surface->transform().baseMap()->determinant() > 0, result, status));
    }
    fill_normals(*grid.surface, result);
    for (const auto &channel : grid.channels) RH_TRY(add_channel(*channel, result, status));
    return RH_OK;
}

}  // namespace

extern "C" rh_code rh_surface_grid_mesh_within(const rh_surface_grid *grid, double adaptivity, int64_t most,
                                               rh_surface_mesh *out, rh_status *status)
{
    *out = rh_surface_mesh{};
    if (!(adaptivity >= 0 && adaptivity <= 1))
        return rh_fail(status, RH_USER, "adaptivity: found %g, expected 0 to 1", adaptivity);
    const rh_code code = rh_vdb::guarded("surface", RH_NUMERIC, status,
                                         [&] { return make_mesh(*grid, adaptivity, most, *out, status); });
    if (code != RH_OK) rh_surface_mesh_free(out);
    return code;
}

extern "C" rh_code rh_surface_grid_mesh(const rh_surface_grid *grid, double adaptivity, rh_surface_mesh *out,
                                        rh_status *status)
{
    return rh_surface_grid_mesh_within(grid, adaptivity, int64_t(UINT32_MAX), out, status);
}

extern "C" void rh_surface_mesh_free(rh_surface_mesh *result)
{
    rh_free(result->position);
    rh_free(result->normal);
    rh_free(result->triangle);
    rh_free(result->quad);
    for (int c = 0; c < result->channel_count; c++) rh_free(result->channels[c].data);
    *result = rh_surface_mesh{};
}
