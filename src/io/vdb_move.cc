// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Positions of points of .vdb files, and putting points into their places again after a pass. OpenVDB has its
// own means for moving and deleting points; they are not used because the order of points they leave is not
// promised, and because one pass can do both.
//
// Most points stay in their leaf, so only those that leave it are sorted. A leaf's new points are those that came from
// elements before its own, its own, and those from elements behind: the order of elements, without having sorted all of
// them. (Sorting a list of all took longer than all the rest of the pass.)
#include "io/vdb_leaf.hh"
#include "io/vdb_points.hh"

#pragma GCC visibility push(default)
#include <openvdb/points/AttributeGroup.h>
#include <openvdb/points/PointAttribute.h>
#pragma GCC visibility pop
#include <tbb/parallel_sort.h>

#include <algorithm>
#include <memory>

namespace vp = openvdb::points;
using openvdb::Coord;
using openvdb::Index;
using openvdb::Vec3d;
using openvdb::Vec3f;
using rh_vdb::bytes_of;
using rh_vdb::end_of;
using rh_vdb::guarded;
using rh_vdb::Leaf;
using rh_vdb::leaf_count;

namespace {

// Calls work(map) with the transform's map by its own type where it is one of the usual, so that its arithmetic is in
// line instead of a virtual call a point. The formulas are the library's: other programs must find the same positions,
// to the last bit.
template <typename Work> void with_map(const openvdb::math::Transform &transform, const Work &work)
{
    using openvdb::math::UniformScaleMap;
    using openvdb::math::UniformScaleTranslateMap;
    if (transform.mapType() == UniformScaleMap::mapType()) work(*transform.map<UniformScaleMap>());
    else if (transform.mapType() == UniformScaleTranslateMap::mapType())
        work(*transform.map<UniformScaleTranslateMap>());
    else work(*transform.baseMap());
}

template <typename Map> Vec3d to_world(const Map &map, const Vec3d &at)
{
    if constexpr (std::is_abstract<Map>::value) return map.applyMap(at);
    else return map.Map::applyMap(at);
}

template <typename Map> Vec3d to_index(const Map &map, const Vec3d &at)
{
    if constexpr (std::is_abstract<Map>::value) return map.applyInverseMap(at);
    else return map.Map::applyInverseMap(at);
}

// ---- offsets from the voxel's centre, as they are stored

bool is_raw(const vp::AttributeArray &array)
{
    return array.valueType() == "vec3s" && array.codecType() == vp::NullCodec::name() && array.stride() == 1;
}

class RawOffsets {
    const Vec3f *data;
    size_t step;

  public:
    explicit RawOffsets(const vp::AttributeArray &array)
        : data(reinterpret_cast<const Vec3f *>(array.constDataAsByteArray())), step(array.isUniform() ? 0 : 1)
    {
    }
    Vec3d get(Index point) const { return Vec3d(data[point * step]); }
};

template <typename T> class CodedOffsets {
    vp::AttributeHandle<T> handle;

  public:
    explicit CodedOffsets(const vp::AttributeArray &array) : handle(array) {}
    Vec3d get(Index point) const { return Vec3d(handle.get(point)); }
};

template <typename Map, typename Offsets>
void positions_by(const Map &map, const Leaf &leaf, const Offsets &offsets, rh_vec3 *out)
{
    Index point = 0;
    for (Index v = 0; v < Leaf::NUM_VALUES; v++) {
        const Vec3d centre = leaf.offsetToGlobalCoord(v).asVec3d();
        for (const Index end = end_of(leaf, v); point < end; point++) {
            const Vec3f at(to_world(map, centre + offsets.get(point)));
            out[point] = {at.x(), at.y(), at.z()};
        }
    }
}

template <typename Map> void leaf_positions(const Map &map, const Leaf &leaf, rh_vec3 *out)
{
    const vp::AttributeArray &array = *leaf.attributeSet().getConst("P");
    if (is_raw(array)) positions_by(map, leaf, RawOffsets(array), out);
    else if (array.valueType() == "vec3d") positions_by(map, leaf, CodedOffsets<Vec3d>(array), out);
    else positions_by(map, leaf, CodedOffsets<Vec3f>(array), out);
}

// ---- where points are after a pass

enum : uint16_t { VOXEL = 0x1ff, MOVED = 0x200, GONE = 0xffff };  // of a point's code: dead, or in another leaf now

struct Traveller {
    uint64_t leaf;  // where to
    int64_t element;
    uint32_t source;  // leaf it comes from
    uint16_t voxel;
};

struct Places {
    std::vector<uint16_t> codes;        // of every point
    std::vector<Index> stayed;          // in every leaf
    std::vector<Traveller> travellers;  // by leaf and element
};

Vec3d as_double(const rh_vec3 &at) { return Vec3d(at.x, at.y, at.z); }

[[noreturn]] void lose(const rh_vec3 &at)
{
    char text[256];
    snprintf(text, sizeof text,
             "a point was moved to (%g, %g, %g), where it cannot be stored: files hold points up to %g voxels from the "
             "origin (delete such points in the "
             "program: if (length(v@P) > limit) deletepoint();)",
             double(at.x), double(at.y), double(at.z), double(RH_FARTHEST_VOXEL));
    throw std::out_of_range(text);
}

// One leaf's codes; those that leave it are appended to `away`.
template <typename Map> class Placing {
    const rh_vdb_points &p;
    const Map &map;
    const rh_vec3 *positions;
    const uint8_t *dead;
    Places &places;

  public:
    Placing(const rh_vdb_points &points, const Map &m, const rh_vec3 *at, const uint8_t *marks, Places &out)
        : p(points), map(m), positions(at), dead(marks), places(out)
    {
    }

    void leaf(size_t l, std::vector<rh_vec3> &before, std::vector<Traveller> &away) const
    {
        const Leaf &from = *p.leaves[l];
        const int64_t first = p.starts[l];
        const uint64_t key = rh_leaf_key(from.origin());
        uint16_t *codes = places.codes.data() + first;
        Index stayed = 0, point = 0;
        if (positions) {
            before.resize(leaf_count(p, l));
            leaf_positions(map, from, before.data());
        }
        for (Index v = 0; v < Leaf::NUM_VALUES; v++)
            for (const Index end = end_of(from, v); point < end; point++) {
                uint16_t &code = codes[point];
                const int64_t e = first + point;
                code = uint16_t(v);
                if (dead && dead[e]) code = GONE;
                else if (positions && std::memcmp(&before[point], &positions[e], sizeof(rh_vec3)) != 0)
                    code = move(l, key, e, away);
                stayed += code != GONE;
            }
        places.stayed[l] = stayed;
    }

  private:
    uint16_t move(size_t l, uint64_t key, int64_t e, std::vector<Traveller> &away) const
    {
        const Vec3d at = to_index(map, as_double(positions[e]));
        if (!rh_voxel_in_range(at)) lose(positions[e]);
        const Coord voxel = rh_nearest_voxel(at);
        const uint64_t there = rh_leaf_key(voxel);
        const uint16_t offset = uint16_t(Leaf::coordToOffset(voxel));
        if (there == key) return offset | MOVED;
        away.push_back({there, e, uint32_t(l), offset});
        return GONE;
    }
};

template <typename Map>
Places find_places(const rh_vdb_points &p, const Map &map, const rh_vec3 *positions, const uint8_t *dead)
{
    Places places;
    places.codes.resize(size_t(p.starts.back()));
    places.stayed.resize(p.leaves.size());
    std::vector<std::vector<Traveller>> away(p.leaves.size());
    const Placing<Map> placing(p, map, positions, dead, places);
    tbb::parallel_for(tbb::blocked_range<size_t>(0, p.leaves.size()), [&](const tbb::blocked_range<size_t> &range) {
        std::vector<rh_vec3> before;
        for (size_t l = range.begin(); l < range.end(); l++) placing.leaf(l, before, away[l]);
    });
    size_t count = 0;
    for (const auto &part : away) count += part.size();
    places.travellers.reserve(count);
    for (const auto &part : away) places.travellers.insert(places.travellers.end(), part.begin(), part.end());
    tbb::parallel_sort(places.travellers.begin(), places.travellers.end(), [](const Traveller &a, const Traveller &b) {
        return a.leaf != b.leaf ? a.leaf < b.leaf : a.element < b.element;
    });
    return places;
}

// ---- new leaves

constexpr size_t NOBODY = SIZE_MAX;

// A leaf to be: who stayed in it, and travellers begin to end.
struct Target {
    uint64_t key;
    size_t own;  // the leaf that was there, or NOBODY
    size_t begin, end;
    Leaf *leaf;
};

std::vector<Target> list_targets(const rh_vdb_points &p, const Places &places)
{
    std::vector<Target> targets;
    for (size_t l = 0; l < p.leaves.size(); l++)
        if (places.stayed[l] > 0) targets.push_back({rh_leaf_key(p.leaves[l]->origin()), l, 0, 0, nullptr});
    const size_t with_own = targets.size();
    std::sort(targets.begin(), targets.end(), [](const Target &a, const Target &b) { return a.key < b.key; });
    size_t own = 0;
    for (size_t i = 0, end; i < places.travellers.size(); i = end) {
        const uint64_t key = places.travellers[i].leaf;
        for (end = i + 1; end < places.travellers.size() && places.travellers[end].leaf == key;) end++;
        while (own < with_own && targets[own].key < key) own++;
        if (own < with_own && targets[own].key == key) targets[own].begin = i, targets[own].end = end;
        else targets.push_back({key, NOBODY, i, end, nullptr});
    }
    std::sort(targets.begin(), targets.end(), [](const Target &a, const Target &b) { return a.key < b.key; });
    return targets;
}

// A point of a new leaf: which of the leaves its points come from, and which point there.
struct Origin {
    uint32_t source;  // number in the list of leaves
    Index point;
    int64_t element;
    uint16_t voxel;
    bool moved;
};

// Scratch of a thread.
struct Bench {
    std::vector<Origin> arrived, from;  // in the order of elements, of voxels
    std::vector<size_t> sources;        // leaves
    std::vector<Leaf::ValueType> ends;
    std::vector<const char *> data;  // of one array in the sources,
    std::vector<size_t> step;        // and bytes from point to point there, 0 where one value is for all
};

uint32_t source_number(Bench &b, size_t leaf)
{
    for (size_t i = 0; i < b.sources.size(); i++)
        if (b.sources[i] == leaf) return uint32_t(i);
    b.sources.push_back(leaf);
    return uint32_t(b.sources.size() - 1);
}

void add_travellers(const rh_vdb_points &p, const Places &places, size_t begin, size_t end, Bench &b)
{
    for (size_t i = begin; i < end; i++) {
        const Traveller &t = places.travellers[i];
        b.arrived.push_back(
            {source_number(b, t.source), Index(t.element - p.starts[t.source]), t.element, t.voxel, true});
    }
}

// The points of a new leaf in the order of elements.
void collect(const rh_vdb_points &p, const Places &places, const Target &target, Bench &b)
{
    b.arrived.clear(), b.sources.clear();
    size_t middle = target.begin;
    if (target.own != NOBODY) {
        b.sources.push_back(target.own);
        const int64_t first = p.starts[target.own], end = p.starts[target.own + 1];
        while (middle < target.end && places.travellers[middle].element < first) middle++;
        add_travellers(p, places, target.begin, middle, b);
        for (int64_t e = first; e < end; e++) {
            const uint16_t code = places.codes[size_t(e)];
            if (code != GONE)
                b.arrived.push_back({0, Index(e - first), e, uint16_t(code & VOXEL), (code & MOVED) != 0});
        }
    }
    add_travellers(p, places, middle, target.end, b);
}

// The same in the order of voxels, and where each voxel ends.
void sort_by_voxel(Bench &b)
{
    uint32_t starts[Leaf::NUM_VALUES + 1] = {0};
    for (const Origin &o : b.arrived) starts[o.voxel + 1]++;
    b.ends.resize(Leaf::NUM_VALUES);
    for (size_t v = 0; v < Leaf::NUM_VALUES; v++) b.ends[v] = starts[v + 1] += starts[v];
    b.from.resize(b.arrived.size());
    for (const Origin &o : b.arrived) b.from[starts[o.voxel]++] = o;
}

// `size` is known to the compiler where it is one of the usual.
template <size_t fixed> void copy_values(const Bench &b, size_t size, char *out)
{
    const size_t bytes = fixed ? fixed : size;
    for (size_t i = 0; i < b.from.size(); i++)
        std::memcpy(out + i * bytes, b.data[b.from[i].source] + b.from[i].point * b.step[b.from[i].source], bytes);
}

// Arrays that were one value stay so where it is the same in all leaves that points come from.
void gather_array(const rh_vdb_points &p, size_t place, Bench &b, vp::AttributeArray &to)
{
    const vp::AttributeArray &model = *p.leaves[b.sources[0]]->attributeSet().getConst(place);
    const size_t size = model.storageTypeSize() * model.stride();
    bool one = true;
    b.data.clear(), b.step.clear();
    for (size_t source : b.sources) {
        const vp::AttributeArray &array = *p.leaves[source]->attributeSet().getConst(place);
        b.data.push_back(array.constDataAsByteArray());
        b.step.push_back(array.isUniform() ? 0 : size);
        one = one && array.isUniform() && std::memcmp(b.data.back(), b.data[0], size) == 0;
    }
    if (one && to.isUniform()) {
        std::memcpy(bytes_of(to), b.data[0], size);
        return;
    }
    to.expand(false);
    char *out = bytes_of(to);
    switch (size) {
    case 1: return copy_values<1>(b, size, out);
    case 4: return copy_values<4>(b, size, out);
    case 8: return copy_values<8>(b, size, out);
    case 12: return copy_values<12>(b, size, out);
    default: return copy_values<0>(b, size, out);
    }
}

template <typename T, typename Map>
void put_coded(const Map &map, const rh_vec3 *positions, const Bench &b, vp::AttributeArray &array)
{
    vp::AttributeWriteHandle<T> handle(array, /*expand=*/true);
    for (size_t i = 0; i < b.from.size(); i++) {
        if (!b.from[i].moved) continue;
        const Vec3d at = to_index(map, as_double(positions[b.from[i].element]));
        handle.set(Index(i), T(at - rh_nearest_voxel(at).asVec3d()));
    }
}

template <typename Map>
void put_offsets(const Map &map, const rh_vec3 *positions, const Bench &b, vp::AttributeArray &array)
{
    if (array.valueType() == "vec3d") return put_coded<Vec3d>(map, positions, b, array);
    if (!is_raw(array)) return put_coded<Vec3f>(map, positions, b, array);
    array.expand();
    auto *out = reinterpret_cast<Vec3f *>(bytes_of(array));
    for (size_t i = 0; i < b.from.size(); i++) {
        if (!b.from[i].moved) continue;
        const Vec3d at = to_index(map, as_double(positions[b.from[i].element]));
        out[i] = Vec3f(at - rh_nearest_voxel(at).asVec3d());
    }
}

template <typename Map>
void fill_leaf(const rh_vdb_points &p, const Map &map, const rh_vec3 *positions, const Places &places,
               const Target &target, const vp::AttributeArray::ScopedRegistryLock &lock, Bench &b)
{
    Leaf &leaf = *target.leaf;
    collect(p, places, target, b);
    sort_by_voxel(b);
    leaf.replaceAttributeSet(new vp::AttributeSet(p.leaves[0]->attributeSet(), Index(b.from.size()), &lock),
                             /*allowMismatchingDescriptors=*/true);
    leaf.setOffsets(b.ends);
    for (size_t a = 0; a < leaf.attributeSet().size(); a++) gather_array(p, a, b, leaf.attributeArray(a));
    if (positions) put_offsets(map, positions, b, leaf.attributeArray("P"));
}

rh_code refuse_odd(const rh_vdb_points &p, rh_status *status)
{
    const vp::AttributeSet &model = p.leaves[0]->attributeSet();
    for (size_t i = 0; i < model.size(); i++)
        if (!model.getConst(i)->hasConstantStride())
            return rh_fail(status, RH_USER,
                           "the grid %s has an attribute with a varying number of values a point, so its points can be "
                           "neither moved nor deleted",
                           p.grid->getName().c_str());
    for (const Leaf *leaf : p.leaves)
        if (!rh_voxel_in_range(leaf->origin().asVec3d()))
            return rh_fail(status, RH_USER, "the grid %s has points too far away to be moved or deleted",
                           p.grid->getName().c_str());
    return RH_OK;
}

template <typename Map> void rebuild(rh_vdb_points &p, const Map &map, const rh_vec3 *positions, const uint8_t *dead)
{
    const Places places = find_places(p, map, positions, dead);
    std::vector<Target> targets = list_targets(p, places);
    auto tree = std::make_shared<vp::PointDataTree>();
    for (Target &target : targets) {
        target.leaf = new Leaf(rh_leaf_origin(target.key));
        tree->addLeaf(target.leaf);  // owns it from here
    }
    vp::AttributeArray::ScopedRegistryLock lock;
    rh_vdb::Watch watch(p.watch, "move", int64_t(targets.size()));
    tbb::parallel_for(tbb::blocked_range<size_t>(0, targets.size()), [&](const tbb::blocked_range<size_t> &range) {
        Bench bench;
        for (size_t t = range.begin(); t < range.end(); t++) {
            fill_leaf(p, map, positions, places, targets[t], lock, bench);
            watch.step();
        }
    });
    // All leaves share one descriptor, as they did: adding an attribute later relies on it.
    if (!targets.empty()) {
        const auto shared = targets[0].leaf->attributeSet().descriptorPtr();
        for (const Target &target : targets) target.leaf->resetDescriptor(shared);
    }
    p.grid->setTree(tree);
}

}  // namespace

// --- the border ------------------------------------------------------------------------------------------------------

extern "C" rh_code rh_vdb_points_positions(const rh_vdb_points *points, rh_vec3 *out, rh_status *status)
{
    return guarded("P", RH_IO, status, [&] {
        with_map(points->grid->transform(), [&](const auto &map) {
            tbb::parallel_for(size_t(0), points->leaves.size(),
                              [&](size_t l) { leaf_positions(map, *points->leaves[l], out + points->starts[l]); });
        });
        return RH_OK;
    });
}

extern "C" rh_code rh_vdb_points_rebuild(rh_vdb_points *points, const rh_vec3 *positions, const uint8_t *dead,
                                         rh_status *status)
{
    if (points->leaves.empty()) return RH_OK;
    return guarded(points->grid->getName().c_str(), RH_NUMERIC, status, [&] {
        RH_TRY(refuse_odd(*points, status));
        with_map(points->grid->transform(), [&](const auto &map) { rebuild(*points, map, positions, dead); });
        return RH_OK;
    });
}
