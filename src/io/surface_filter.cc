// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Filters over a level set (docs/sources.md has their sources), most of them OpenVDB's. All are of the Jacobi kind: a
// voxel's new value depends on old values only, so the number of threads does not matter.
//
// A filter is taken in steps, each of which moves the band by a voxel at most; channels and masks follow after every
// step, for a surface that moved farther than the band is wide has no old voxel near it. Steps read clipped distances
// beyond the band: a mean that is wider than the band then smooths a little less. Widening the band for it was not
// worth its memory.
#include "io/surface_parts.hh"

#pragma GCC visibility push(default)
#include <openvdb/tools/Composite.h>
#include <openvdb/tools/LevelSetFilter.h>
#pragma GCC visibility pop

#include <algorithm>
#include <optional>

namespace {

using openvdb::Coord;
using openvdb::FloatGrid;
using openvdb::FloatTree;
using Filter = openvdb::tools::LevelSetFilter<FloatGrid>;
using OriginTree = openvdb::Int64Tree;

// --- following -------------------------------------------------------------------------------------------------------

// Voxels around one, nearest first. A step activates voxels up to two away from old ones.
std::vector<Coord> voxels_around()
{
    std::vector<Coord> list;
    for (int x = -3; x <= 3; x++)
        for (int y = -3; y <= 3; y++)
            for (int z = -3; z <= 3; z++) list.push_back(Coord(x, y, z));
    auto squared = [](const Coord &c) { return c.x() * c.x() + c.y() * c.y() + c.z() * c.z(); };
    std::stable_sort(list.begin(), list.end(), [&](const Coord &a, const Coord &b) { return squared(a) < squared(b); });
    return list;
}

// Knows for every voxel of the moving surface which voxel of the first one is nearest to it, so that channels are
// copied once, at the end. A voxel that is new asks those around it for theirs and takes the nearest of these (of
// equally near ones the first asked). Taking that of the nearest neighbour drifts: equally near neighbours are common,
// and always the same one wins.
class Follower {
  public:
    explicit Follower(const FloatTree &surface)
    {
        origins_ = std::make_shared<OriginTree>(surface, int64_t(0), openvdb::TopologyCopy());
        openvdb::tree::LeafManager<OriginTree> leaves(*origins_);
        first_.resize(leaves.leafCount());
        leaves.foreach ([&](OriginTree::LeafNodeType &leaf, size_t l) {
            first_[l] = leaf.origin();
            int64_t *data = leaf.buffer().data();
            for (auto voxel = leaf.cbeginValueOn(); voxel; ++voxel)
                data[voxel.pos()] = int64_t(l) * RH_LEAF + int64_t(voxel.pos());
        });
    }

    void follow(const FloatTree &surface)
    {
        origins_ = rh_vdb::fill_like<OriginTree>(surface, [&] {
            return
                [this, reader = rh_vdb::Reader<OriginTree>(*origins_)](const Coord &at) { return nearest(at, reader); };
        });
    }

    // A channel of the first surface on the voxels of the present one.
    template <typename Tree> typename Tree::Ptr carried(const Tree &channel, const FloatTree &surface) const
    {
        return rh_vdb::fill_like<Tree>(surface, [&] {
            return [this, origins = rh_vdb::Reader<OriginTree>(*origins_), values = rh_vdb::Reader<Tree>(channel)](
                       const Coord &at) { return values.getValue(place(origins.getValue(at))); };
        });
    }

  private:
    Coord place(int64_t origin) const
    {
        return first_[size_t(origin / RH_LEAF)] +
               OriginTree::LeafNodeType::offsetToLocalCoord(openvdb::Index(origin % RH_LEAF));
    }

    int64_t nearest(const Coord &at, const rh_vdb::Reader<OriginTree> &origins) const
    {
        int64_t best = 0, least = INT64_MAX, origin = 0;
        for (size_t n = 0; n < around_.size() && (n < 27 || least == INT64_MAX); n++) {
            if (!origins.probeValue(at + around_[n], origin)) continue;
            if (n == 0) return origin;
            const Coord way = place(origin) - at;
            const int64_t x = way.x(), y = way.y(), z = way.z(), squared = x * x + y * y + z * z;
            if (squared < least) least = squared, best = origin;
        }
        return best;
    }

    const std::vector<Coord> around_ = voxels_around();
    OriginTree::Ptr origins_;
    std::vector<Coord> first_;  // leaf origins of the first surface
};

// --- steps -----------------------------------------------------------------------------------------------------------

struct Mask {
    FloatGrid::Ptr grid;  // NULL: the filter is applied everywhere
    FloatGrid::Ptr channel;
    float none = 0;  // the value for nothing of the filter
    float low = 0, high = 1;
    bool inverted = false;
};

// One iteration of what OpenVDB 10 lacks: concave edges with a radius, phi += min(0, dx^2 / 3 kappa_min), as in later
// versions.
void fillet(Filter &filter, const Mask &mask)
{
    const float voxel = filter.voxelSize(), step = voxel * voxel / 3;
    filter.leafs().rebuildAuxBuffers(1);
    tbb::parallel_for(filter.leafs().leafRange(), [&](const auto &range) {
        openvdb::math::CurvatureStencil<FloatGrid> stencil(filter.grid(), voxel);
        std::optional<openvdb::tools::AlphaMask<FloatGrid, FloatGrid>> alpha;
        if (mask.grid) alpha.emplace(filter.grid(), *mask.grid, mask.low, mask.high, mask.inverted);
        for (auto leaf = range.begin(); leaf; ++leaf) {
            float *to = leaf.buffer(1).data();
            for (auto at = leaf->cbeginValueOn(); at; ++at) {
                float share = 1, rest = 0;
                if (alpha && !(*alpha)(at.getCoord(), share, rest)) continue;
                stencil.moveTo(at);
                const float bend = step * stencil.principalCurvatures().first;
                if (bend < 0)
                    to[at.pos()] = *at +
                                   share * std::max(bend, -voxel);  // nearer to the axis of a ridge it is anything
            }
        }
    });
    filter.leafs().swapLeafBuffer(1);
    filter.track();
}

void prepare(Filter &filter, const Mask &mask)
{
    if (!mask.grid) return;
    filter.setMaskRange(mask.low, mask.high);
    filter.invertMask(mask.inverted);
}

// Smoothing that may only add (Zhu 2005, chapter 4): the union with the smoothed surface, which for distances is
// min(phi, smoothed).
void fill(FloatGrid &surface, int width, const Mask &mask)
{
    auto smooth = surface.deepCopy();
    {
        Filter filter(*smooth);
        prepare(filter, mask);
        filter.mean(width, mask.grid.get());
    }
    openvdb::tools::csgUnion(surface, *smooth, /*prune=*/true);
    Filter(surface).track();
}

void take_step(FloatGrid &surface, int kind, int width, float offset, const Mask &mask)
{
    if (kind == RH_FILTER_FILL) return fill(surface, width, mask);
    Filter filter(surface);
    prepare(filter, mask);
    const FloatGrid *alpha = mask.grid.get();
    switch (kind) {
    case RH_FILTER_MEAN:
    case RH_FILTER_GAUSSIAN: return filter.mean(width, alpha);
    case RH_FILTER_MEDIAN: return filter.median(width, alpha);
    case RH_FILTER_CURVATURE: return filter.meanCurvature(alpha);
    case RH_FILTER_LAPLACIAN: return filter.laplacian(alpha);
    case RH_FILTER_FILLET: return fillet(filter, mask);
    case RH_FILTER_RENORMALISE: return filter.track();
    default: return filter.offset(offset, alpha);
    }
}

// --- filters ---------------------------------------------------------------------------------------------------------

class Run {
  public:
    explicit Run(rh_surface_grid &grid) : grid_(grid)
    {
        if (!grid.channels.empty()) follower_.emplace(grid.surface->tree());
    }

    rh_code apply(const rh_filter_params &filter, rh_status *status)
    {
        Mask mask;
        RH_TRY(find_mask(filter, mask, status));
        const float voxel = float(grid_.surface->voxelSize().x()),
                    distance = filter.distance > 0 ? float(filter.distance) : voxel;
        const int width = int(std::max<int64_t>(1, filter.width));
        for (int64_t i = 0; i < filter.iterations; i++) {
            switch (filter.kind) {
            case RH_FILTER_GAUSSIAN:  // four boxes are nearly one
                for (int box = 0; box < 4; box++) step(filter.kind, width, 0, mask);
                break;
            case RH_FILTER_DILATE: offset(-distance, mask); break;
            case RH_FILTER_ERODE: offset(distance, mask); break;
            case RH_FILTER_OPEN: offset(distance, mask), offset(-distance, mask); break;
            case RH_FILTER_CLOSE: offset(-distance, mask), offset(distance, mask); break;
            default: step(filter.kind, width, 0, mask);
            }
        }
        return RH_OK;
    }

    void finish()
    {
        for (auto &channel : grid_.channels)
            channel->apply<rh_vdb::ChannelGrids>(
                [&](auto &any) { any.setTree(follower_->carried(any.tree(), grid_.surface->tree())); });
    }

  private:
    void step(int kind, int width, float distance, Mask &mask)
    {
        if (grid_.surface->empty()) return;  // eroded away
        take_step(*grid_.surface, kind, width, distance, mask);
        if (follower_) follower_->follow(grid_.surface->tree());
        if (mask.grid) carry(mask);
    }

    // By half a voxel at a time: the band follows.
    void offset(float distance, Mask &mask)
    {
        const float largest = 0.5f * float(grid_.surface->voxelSize().x());
        const int64_t steps = std::max<int64_t>(1, int64_t(std::ceil(std::fabs(distance) / largest - 1e-4f)));
        for (int64_t i = 0; i < steps; i++) step(RH_FILTER_DILATE, 1, distance / float(steps), mask);
    }

    rh_code find_mask(const rh_filter_params &filter, Mask &mask, rh_status *status)
    {
        if (!filter.mask || !filter.mask[0]) return RH_OK;
        for (auto &channel : grid_.channels)
            if (channel->getName() == filter.mask)
                if (auto values = openvdb::gridPtrCast<FloatGrid>(channel))
                    return make_mask(filter, values, mask), RH_OK;
        return no_such_mask(filter.mask, status);
    }

    rh_code no_such_mask(const char *mask, rh_status *status) const
    {
        std::vector<std::string> names;
        std::vector<const char *> texts;
        std::string list;
        for (const auto &channel : grid_.channels)
            if (openvdb::gridPtrCast<FloatGrid>(channel)) names.push_back(channel->getName());
        for (const std::string &name : names) list += (list.empty() ? "" : ", ") + name, texts.push_back(name.c_str());
        const char *nearest = rh_nearest_name(mask, texts.data(), int(texts.size()));
        return rh_fail(status, RH_USER,
                       "mask: found '%s', expected a float attribute that is carried to the surface (%s)%s%s%s", mask,
                       list.empty() ? "there is none" : list.c_str(), nearest ? "; did you mean '" : "",
                       nearest ? nearest : "", nearest ? "'?" : "");
    }

    void make_mask(const rh_filter_params &filter, const FloatGrid::Ptr &channel, Mask &mask)
    {
        mask.channel = channel;
        mask.none = float(filter.mask_min);
        mask.inverted = filter.mask_max < filter.mask_min;
        mask.low = float(std::min(filter.mask_min, filter.mask_max));
        mask.high = std::max(float(std::max(filter.mask_min, filter.mask_max)), std::nextafter(mask.low, INFINITY));
        mask.grid = FloatGrid::create();
        mask.grid->setTransform(grid_.surface->transform().copy());
        carry(mask);
    }

    // Brings the mask to where the surface is. Values that are no numbers count as none of the filter.
    void carry(Mask &mask)
    {
        mask.grid->setTree(follower_->carried(mask.channel->tree(), grid_.surface->tree()));
        openvdb::tree::LeafManager<FloatTree> leaves(mask.grid->tree());
        leaves.foreach ([&](FloatTree::LeafNodeType &leaf, size_t) {
            for (auto voxel = leaf.beginValueOn(); voxel; ++voxel)
                if (!std::isfinite(*voxel)) voxel.setValue(mask.none);
        });
    }

    rh_surface_grid &grid_;
    std::optional<Follower> follower_;
};

}  // namespace

extern "C" rh_code rh_surface_grid_filter(rh_surface_grid *grid, const rh_filter_params *filters, int count,
                                          rh_status *status)
{
    if (count <= 0) return RH_OK;
    return rh_vdb::guarded("surface", RH_NUMERIC, status, [&] {
        Run run(*grid);
        rh_code code = RH_OK;
        for (int i = 0; i < count && code == RH_OK; i++) code = run.apply(filters[i], status);
        run.finish();
        return code;
    });
}
