// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Points of .vdb files as columns (spec AX-20, AX-21). Arrays without a codec are visited where they are. OpenVDB has its own means for moving
// and deleting points; they are not used because the order of points they leave is not promised, and because one pass can do both.
#include "io/vdb_data.hh"
#include "io/vdb_leaf.hh"

#pragma GCC visibility push(default)
#include <openvdb/points/AttributeArrayString.h>
#include <openvdb/points/AttributeGroup.h>
#include <openvdb/points/PointAttribute.h>
#include <openvdb/points/PointDataGrid.h>
#include <openvdb/points/PointGroup.h>
#pragma GCC visibility pop
#include <tbb/parallel_sort.h>

#include <algorithm>
#include <map>
#include <memory>
#include <unordered_map>

namespace vp = openvdb::points;
using openvdb::Coord;
using openvdb::Index;
using Leaf = vp::PointDataTree::LeafNodeType;
using rh_vdb::counted_from;
using rh_vdb::Entry;
using rh_vdb::guarded;
using rh_vdb::room;
using rh_vdb::Scratch;

namespace {

enum class Storage { plain, coded, text, position, unknown };

struct Attribute {
    openvdb::Name name;
    std::string stored;
    size_t place;  // in the leaf's set
    rh_lang_type type;
    Storage storage;
};

struct Stored {
    const char *name;
    rh_lang_type type;
};
const Stored stored_types[] = {{"bool", RH_LANG_BOOL},   {"int16", RH_LANG_INT16},   {"int32", RH_LANG_INT32},   {"int64", RH_LANG_INT64},
                               {"float", RH_LANG_FLOAT}, {"double", RH_LANG_DOUBLE}, {"vec3i", RH_LANG_VEC3I},   {"vec3s", RH_LANG_VEC3F},
                               {"vec3d", RH_LANG_VEC3D}, {"mat3s", RH_LANG_MAT3F},   {"mat3d", RH_LANG_MAT3D},   {"mat4s", RH_LANG_MAT4F},
                               {"mat4d", RH_LANG_MAT4D}};

// Several numbers a point are a vector or a matrix.
rh_lang_type type_of_many(rh_lang_type one, Index stride)
{
    static const std::pair<Index, rh_lang_shape> shapes[] = {{2, RH_LANG_VEC2}, {3, RH_LANG_VEC3}, {4, RH_LANG_VEC4}, {9, RH_LANG_MAT3}, {16, RH_LANG_MAT4}};
    if (stride == 1) return one;
    const rh_lang_element element = rh_lang_type_element(one);
    if (rh_lang_type_shape(one) != RH_LANG_SCALAR || (element != RH_LANG_E_INT32 && element != RH_LANG_E_FLOAT && element != RH_LANG_E_DOUBLE)) return RH_LANG_VOID;
    for (const auto &shape : shapes)
        if (shape.first == stride && (element != RH_LANG_E_INT32 || stride <= 4)) return RH_LANG_TYPE(shape.second, element);
    return RH_LANG_VOID;
}

Attribute describe_array(const openvdb::Name &name, size_t place, const vp::AttributeArray &array)
{
    Attribute a{name, array.valueType() + (array.codecType() == vp::NullCodec::name() ? "" : " " + array.codecType()), place, RH_LANG_VOID, Storage::unknown};
    if (array.stride() != 1) a.stored += " x " + std::to_string(array.stride());
    if (vp::isString(array)) a.type = RH_LANG_STRING, a.storage = Storage::text;
    if (a.storage == Storage::text || !array.hasConstantStride()) return a;
    for (const Stored &known : stored_types)
        if (array.valueType() == known.name) a.type = type_of_many(known.type, array.stride());
    const bool plain = array.codecType() == vp::NullCodec::name();
    // OpenVDB has codecs for float and vec3f only.
    const bool coded = !plain && array.stride() == 1 && (a.type == RH_LANG_FLOAT || a.type == RH_LANG_VEC3F);
    a.storage = plain ? Storage::plain : coded ? Storage::coded : Storage::unknown;
    if (name == "P" && (a.type == RH_LANG_VEC3F || a.type == RH_LANG_VEC3D)) a.type = RH_LANG_VEC3F, a.storage = Storage::position;
    if (a.storage == Storage::unknown) a.type = RH_LANG_VOID;
    return a;
}

}  // namespace

struct rh_vdb_points {
    vp::PointDataGrid *grid;
    std::vector<Leaf *> leaves;
    std::vector<int64_t> starts;  // first element of each leaf, and one more
    std::vector<Attribute> attributes;
    std::vector<openvdb::Name> groups;
    std::unordered_map<Index, std::string> texts;  // of all attributes of strings, by what is stored
};

namespace {

Index end_of(const Leaf &leaf, Index voxel) { return leaf.buffer()[voxel]; }

const vp::AttributeSet::Descriptor &descriptor_of(const rh_vdb_points &p) { return p.leaves[0]->attributeSet().descriptor(); }

// What the descriptor says, in the order of arrays.
void list_attributes(rh_vdb_points &p)
{
    p.attributes.clear(), p.groups.clear(), p.texts.clear();
    if (p.leaves.empty()) return;
    const vp::AttributeSet &set = p.leaves[0]->attributeSet();
    std::map<size_t, openvdb::Name> by_place;
    for (const auto &entry : set.descriptor().map()) by_place[entry.second] = entry.first;
    for (const auto &entry : by_place) {
        const vp::AttributeArray *array = entry.first < set.size() ? set.getConst(entry.first) : nullptr;
        if (!array) throw std::runtime_error("there is no array of the attribute " + entry.second);
        if (!vp::isGroup(*array)) p.attributes.push_back(describe_array(entry.second, entry.first, *array));
    }
    std::map<size_t, openvdb::Name> by_bit;
    for (const auto &entry : set.descriptor().groupMap()) by_bit[entry.second] = entry.first;
    for (const auto &entry : by_bit) p.groups.push_back(entry.second);
    const vp::StringMetaCache cache(set.descriptor().getMetadata());
    for (const auto &entry : cache.map()) p.texts[entry.second] = entry.first;
}

// The library asserts all this, in its debug build only. Arrays of several numbers a point are stored in full: the library's own code
// takes a uniform one for as long as it would be.
void check_leaf(Leaf &leaf, const vp::AttributeSet &first)
{
    const vp::AttributeSet &set = leaf.attributeSet();
    if (set.descriptor() != first.descriptor() || set.size() != first.size()) throw std::runtime_error("the leaves have different attributes");
    const Index count = leaf.getLastValue();
    for (size_t i = 0; i < set.size(); i++) {
        const vp::AttributeArray *array = set.getConst(i), *model = first.getConst(i);
        if (!array || !model || array->size() < count || array->type() != model->type() || array->stride() != model->stride())
            throw std::runtime_error("a leaf has no proper attribute " + std::to_string(i));
        if (array->stride() > 1 && array->isUniform()) leaf.attributeArray(i).expand();
    }
    Index last = 0;
    for (Index v = 0; v < Leaf::NUM_VALUES; v++) {
        const Index end = end_of(leaf, v);
        if (end < last || end > count) throw std::runtime_error("a leaf's point offsets do not rise");
        last = end;
    }
}

void check_groups(const rh_vdb_points &p)
{
    const vp::AttributeSet &set = p.leaves[0]->attributeSet();
    for (const openvdb::Name &name : p.groups) {
        const auto index = set.groupIndex(name);
        if (index.first >= set.size() || !vp::isGroup(*set.getConst(index.first)) || index.second >= 8) throw std::runtime_error("there is no proper group " + name);
    }
}

void open_points(rh_vdb_points &p)
{
    rh_vdb::own_tree(*p.grid);
    p.starts.assign(1, 0);
    for (auto leaf = p.grid->tree().beginLeaf(); leaf; ++leaf) {
        p.leaves.push_back(&*leaf);
        p.starts.push_back(p.starts.back() + int64_t(leaf->getLastValue()));
    }
    if (p.leaves.empty()) return;
    tbb::parallel_for(size_t(0), p.leaves.size(), [&](size_t l) { check_leaf(*p.leaves[l], p.leaves[0]->attributeSet()); });
    list_attributes(p);
    check_groups(p);
    for (const Attribute &a : p.attributes)
        if (a.storage == Storage::position) return;
    throw std::runtime_error("the points have no positions P");
}

Index leaf_count(const rh_vdb_points &p, size_t leaf) { return Index(p.starts[leaf + 1] - p.starts[leaf]); }

const vp::AttributeArray &array_of(const rh_vdb_points &p, size_t leaf, const Attribute &a) { return *p.leaves[leaf]->attributeSet().getConst(a.place); }
char *bytes_of(vp::AttributeArray &array) { return const_cast<char *>(array.constDataAsByteArray()); }

// ---- codecs

template <typename T> void decode(const vp::AttributeArray &array, Index count, char *out)
{
    vp::AttributeHandle<T> handle(array);
    for (Index i = 0; i < count; i++) {
        const T value = handle.get(i);
        std::memcpy(out + i * sizeof value, &value, sizeof value);
    }
}

// Only what is different from what is stored: encoding what was decoded need not give the same bits.
template <typename T> void encode(vp::AttributeArray &array, Index count, const char *from)
{
    array.expand();
    vp::AttributeWriteHandle<T> handle(array);
    for (Index i = 0; i < count; i++) {
        T value, old = handle.get(i);
        std::memcpy(&value, from + i * sizeof value, sizeof value);
        if (std::memcmp(&value, &old, sizeof value) != 0) handle.set(i, value);
    }
}

void decode_any(const vp::AttributeArray &array, rh_lang_type type, Index count, char *out)
{
    if (type == RH_LANG_FLOAT) decode<float>(array, count, out);
    else decode<openvdb::Vec3f>(array, count, out);
}

void encode_any(vp::AttributeArray &array, rh_lang_type type, Index count, const char *from)
{
    if (type == RH_LANG_FLOAT) encode<float>(array, count, from);
    else encode<openvdb::Vec3f>(array, count, from);
}

void texts_of_leaf(const rh_vdb_points &p, size_t leaf, const Attribute &a, rh_lang_text *out)
{
    vp::AttributeHandle<Index, vp::StringCodec<false>> handle(array_of(p, leaf, a));
    for (Index i = 0; i < leaf_count(p, leaf); i++) {
        const auto found = p.texts.find(handle.get(i));
        out[i] = found == p.texts.end() ? rh_lang_text{"", 0} : rh_lang_text{found->second.c_str(), int64_t(found->second.size())};
    }
}

// ---- one leaf as columns

rh_lang_column lend(rh_vdb_points &p, size_t leaf, const Attribute &a, bool write, std::vector<char> &buffer)
{
    const int64_t first = p.starts[leaf], size = int64_t(rh_lang_type_size(a.type));
    const Index count = leaf_count(p, leaf);
    if (a.storage == Storage::text) {
        auto *texts = reinterpret_cast<rh_lang_text *>(room(buffer, count * sizeof(rh_lang_text)));
        texts_of_leaf(p, leaf, a, texts);
        return counted_from(texts, first, size);
    }
    const vp::AttributeArray &array = array_of(p, leaf, a);
    const bool one = array.isUniform() && !write;
    if (a.storage == Storage::coded) {
        decode_any(array, a.type, one ? 1 : count, room(buffer, count * size_t(size)));
        return counted_from(buffer.data(), first, one ? 0 : size);
    }
    if (!write) return counted_from(array.constDataAsByteArray(), first, one ? 0 : size);
    vp::AttributeArray &own = p.leaves[leaf]->attributeArray(a.place);
    own.expand();
    return counted_from(bytes_of(own), first, size);
}

std::vector<int64_t> chosen_elements(const uint8_t *only, int64_t first, int64_t end)
{
    std::vector<int64_t> list;
    for (int64_t e = first; e < end; e++)
        if (only[e]) list.push_back(e);
    return list;
}

void visit_leaf(rh_vdb_points &p, const rh_vdb_points_job &job, const rh_vdb_visitor &visitor, int slot, size_t leaf, Scratch &scratch)
{
    static const int32_t origin[3] = {0, 0, 0};
    int64_t begin = p.starts[leaf], end = p.starts[leaf + 1];
    std::vector<int64_t> chosen;
    if (job.only) {
        chosen = chosen_elements(job.only, begin, end);
        begin = 0, end = int64_t(chosen.size());
    }
    if (begin == end) return;  // before anything is lent: lending for writing expands arrays
    std::vector<rh_lang_column> columns(size_t(job.count) + 1);
    for (int c = 0; c < job.count; c++)
        columns[size_t(c)] = job.attributes[c] < 0 ? job.own[c] : lend(p, leaf, p.attributes[size_t(job.attributes[c])], job.writes[c], scratch[size_t(c)]);
    const rh_lang_elements elements = {columns.data(), job.only ? chosen.data() : nullptr};
    if (visitor.visit(visitor.user, slot, int64_t(leaf), origin, &elements, begin, end) != RH_OK) return;
    for (int c = 0; c < job.count; c++) {
        if (job.attributes[c] < 0 || !job.writes[c]) continue;
        const Attribute &a = p.attributes[size_t(job.attributes[c])];
        if (a.storage == Storage::coded) encode_any(p.leaves[leaf]->attributeArray(a.place), a.type, leaf_count(p, leaf), scratch[size_t(c)].data());
    }
}

// ---- positions

template <typename T> void world_positions(const rh_vdb_points &p, size_t leaf, const vp::AttributeArray &array, rh_vec3 *out)
{
    const auto &transform = p.grid->transform();
    vp::AttributeHandle<T> handle(array);
    Index point = 0;
    for (Index v = 0; v < Leaf::NUM_VALUES; v++) {
        const openvdb::Vec3d centre = p.leaves[leaf]->offsetToGlobalCoord(v).asVec3d();
        for (const Index end = end_of(*p.leaves[leaf], v); point < end; point++) {
            const openvdb::Vec3f at(transform.indexToWorld(centre + openvdb::Vec3d(handle.get(point))));
            out[point] = {at.x(), at.y(), at.z()};
        }
    }
}

void leaf_positions(const rh_vdb_points &p, size_t leaf, rh_vec3 *out)
{
    const vp::AttributeArray &array = *p.leaves[leaf]->attributeSet().getConst("P");
    if (array.valueType() == "vec3d") world_positions<openvdb::Vec3d>(p, leaf, array, out);
    else world_positions<openvdb::Vec3f>(p, leaf, array, out);
}

template <typename T> void put_offset(vp::AttributeArray &array, Index point, const openvdb::Vec3d &offset)
{
    vp::AttributeWriteHandle<T>(array, /*expand=*/true).set(point, T(offset));
}

// ---- where points are after a pass

struct Place {
    uint64_t leaf;   // 21 bits an axis
    int64_t element;
    uint16_t voxel;
    bool moved;
};

openvdb::Vec3d index_position(const rh_vdb_points &p, const rh_vec3 &at) { return p.grid->transform().worldToIndex(openvdb::Vec3d(at.x, at.y, at.z)); }

// The places of a leaf's points that live. Throws when one has gone where it cannot be stored.
void place_points(const rh_vdb_points &p, size_t leaf, const rh_vec3 *positions, const uint8_t *dead, std::vector<Place> &out)
{
    const int64_t first = p.starts[leaf];
    std::vector<rh_vec3> before(positions ? leaf_count(p, leaf) : 0);
    if (positions) leaf_positions(p, leaf, before.data());
    Index point = 0;
    for (Index v = 0; v < Leaf::NUM_VALUES; v++) {
        for (const Index end = end_of(*p.leaves[leaf], v); point < end; point++) {
            const int64_t e = first + point;
            if (dead && dead[e]) continue;
            Place place{rh_leaf_key(p.leaves[leaf]->origin()), e, uint16_t(v), false};
            if (positions && std::memcmp(&before[point], &positions[e], sizeof(rh_vec3)) != 0) {
                const openvdb::Vec3d at = index_position(p, positions[e]);
                if (!rh_voxel_in_range(at)) throw std::out_of_range("a point was moved to (" + std::to_string(positions[e].x) + ", " + std::to_string(positions[e].y) + ", " + std::to_string(positions[e].z) + "), where it cannot be stored");
                const Coord voxel = rh_nearest_voxel(at);
                place = {rh_leaf_key(voxel), e, uint16_t(Leaf::coordToOffset(voxel)), true};
            }
            out.push_back(place);
        }
    }
}

// All places, grouped by leaf, in the order of elements within.
std::vector<Place> all_places(const rh_vdb_points &p, const rh_vec3 *positions, const uint8_t *dead)
{
    std::vector<std::vector<Place>> parts(p.leaves.size());
    tbb::parallel_for(size_t(0), parts.size(), [&](size_t l) { place_points(p, l, positions, dead, parts[l]); });
    std::vector<Place> places;
    for (const auto &part : parts) places.insert(places.end(), part.begin(), part.end());
    auto before = [](const Place &a, const Place &b) { return a.leaf != b.leaf ? a.leaf < b.leaf : a.element < b.element; };
    if (positions) tbb::parallel_sort(places.begin(), places.end(), before);
    return places;
}

struct Origin {
    size_t leaf;
    Index point;
};

// A leaf's places in the order of voxels, and where its points were.
void sort_by_voxel(const rh_vdb_points &p, Place *places, size_t count, std::vector<Origin> &from, std::vector<Leaf::ValueType> &ends)
{
    std::stable_sort(places, places + count, [](const Place &a, const Place &b) { return a.voxel < b.voxel; });
    ends.assign(Leaf::NUM_VALUES, 0u);
    std::vector<uint32_t> counts(Leaf::NUM_VALUES, 0);
    from.resize(count);
    for (size_t i = 0; i < count; i++) {
        counts[places[i].voxel]++;
        const size_t leaf = size_t(std::upper_bound(p.starts.begin(), p.starts.end(), places[i].element) - p.starts.begin()) - 1;
        from[i] = {leaf, Index(places[i].element - p.starts[leaf])};
    }
    uint32_t end = 0;
    for (size_t v = 0; v < Leaf::NUM_VALUES; v++) ends[v] = end += counts[v];
}

// Arrays that were one value stay so where it is the same in all leaves that points come from.
void gather_array(const rh_vdb_points &p, size_t place, const std::vector<Origin> &from, vp::AttributeArray &to)
{
    const vp::AttributeArray &model = *p.leaves[from[0].leaf]->attributeSet().getConst(place);
    const size_t size = model.storageTypeSize() * model.stride();
    bool one = true;
    for (size_t i = 0; one && i < from.size(); i++) {
        if (i > 0 && from[i].leaf == from[i - 1].leaf) continue;
        const vp::AttributeArray &array = *p.leaves[from[i].leaf]->attributeSet().getConst(place);
        one = array.isUniform() && std::memcmp(array.constDataAsByteArray(), model.constDataAsByteArray(), size) == 0;
    }
    if (one && to.isUniform()) {
        std::memcpy(bytes_of(to), model.constDataAsByteArray(), size);
        return;
    }
    to.expand(false);
    char *out = bytes_of(to);
    for (size_t i = 0; i < from.size(); i++) {
        const vp::AttributeArray &array = *p.leaves[from[i].leaf]->attributeSet().getConst(place);
        std::memcpy(out + i * size, array.constDataAsByteArray() + (array.isUniform() ? 0 : from[i].point * size), size);
    }
}

void fill_leaf(const rh_vdb_points &p, const rh_vec3 *positions, Place *places, size_t count, const vp::AttributeArray::ScopedRegistryLock &lock, Leaf &leaf)
{
    std::vector<Origin> from;
    std::vector<Leaf::ValueType> ends;
    sort_by_voxel(p, places, count, from, ends);
    leaf.replaceAttributeSet(new vp::AttributeSet(p.leaves[0]->attributeSet(), Index(count), &lock), /*allowMismatchingDescriptors=*/true);
    leaf.setOffsets(ends);
    for (size_t a = 0; a < leaf.attributeSet().size(); a++) gather_array(p, a, from, leaf.attributeArray(a));
    vp::AttributeArray &array = leaf.attributeArray("P");
    for (size_t i = 0; i < count; i++) {
        if (!places[i].moved) continue;
        const openvdb::Vec3d at = index_position(p, positions[places[i].element]), offset = at - rh_nearest_voxel(at).asVec3d();
        if (array.valueType() == "vec3d") put_offset<openvdb::Vec3d>(array, Index(i), offset);
        else put_offset<openvdb::Vec3f>(array, Index(i), offset);
    }
}

rh_code rebuild(rh_vdb_points &p, const rh_vec3 *positions, const uint8_t *dead, rh_status *status)
{
    const vp::AttributeSet &model = p.leaves[0]->attributeSet();
    for (size_t i = 0; i < model.size(); i++)
        if (!model.getConst(i)->hasConstantStride())
            return rh_fail(status, RH_USER, "the grid %s has an attribute with a varying number of values a point, so its points can be neither moved nor deleted", p.grid->getName().c_str());
    for (const Leaf *leaf : p.leaves)
        if (!rh_voxel_in_range(leaf->origin().asVec3d())) return rh_fail(status, RH_USER, "the grid %s has points too far away to be moved or deleted", p.grid->getName().c_str());
    std::vector<Place> places = all_places(p, positions, dead);
    std::vector<size_t> starts;
    std::vector<Leaf *> leaves;
    auto tree = std::make_shared<vp::PointDataTree>();
    for (size_t i = 0; i < places.size(); i++) {
        if (i > 0 && places[i].leaf == places[i - 1].leaf) continue;
        starts.push_back(i);
        leaves.push_back(new Leaf(rh_leaf_origin(places[i].leaf)));
        tree->addLeaf(leaves.back());  // owns it from here
    }
    starts.push_back(places.size());
    vp::AttributeArray::ScopedRegistryLock lock;
    tbb::parallel_for(size_t(0), leaves.size(), [&](size_t l) { fill_leaf(p, positions, &places[starts[l]], starts[l + 1] - starts[l], lock, *leaves[l]); });
    // All leaves share one descriptor, as they did: adding an attribute later relies on it.
    if (!leaves.empty()) {
        const auto shared = leaves[0]->attributeSet().descriptorPtr();
        for (Leaf *leaf : leaves) leaf->resetDescriptor(shared);
    }
    p.grid->setTree(tree);
    return RH_OK;
}

// ---- attributes, groups, strings

void add_attribute(rh_vdb_points &p, const char *name, rh_lang_type type)
{
    if (p.leaves.empty()) return;
    openvdb::NamePair stored("", vp::NullCodec::name());
    Index stride = 1;
    for (const Stored &known : stored_types)
        if (known.type == type) stored.first = known.name;
    if (type == RH_LANG_STRING) stored = vp::StringAttributeArray::attributeType();
    if (stored.first.empty()) {  // vec2 and vec4
        stride = Index(rh_lang_type_parts(type));
        for (const Stored &known : stored_types)
            if (known.type == RH_LANG_TYPE(RH_LANG_SCALAR, rh_lang_type_element(type))) stored.first = known.name;
    }
    vp::appendAttribute(p.grid->tree(), name, stored, stride);
    if (stride > 1) tbb::parallel_for(size_t(0), p.leaves.size(), [&](size_t l) { p.leaves[l]->attributeArray(name).expand(); });
    list_attributes(p);
}

void write_group(rh_vdb_points &p, const char *name, const uint8_t *member)
{
    if (p.leaves.empty()) return;
    const bool fresh = !descriptor_of(p).hasGroup(name);
    if (fresh) vp::appendGroup(p.grid->tree(), name);
    tbb::parallel_for(size_t(0), p.leaves.size(), [&](size_t l) {
        auto handle = p.leaves[l]->groupWriteHandle(name);
        const uint8_t *of_leaf = member + p.starts[l];
        for (Index i = 0; i < leaf_count(p, l); i++)
            if (handle.get(i) != (of_leaf[i] != 0)) handle.set(i, of_leaf[i] != 0);
    });
    if (fresh) list_attributes(p);
}

// New texts get their numbers in the order of elements, whoever wrote them.
void write_texts(rh_vdb_points &p, const Attribute &attribute, const rh_lang_text *texts)
{
    std::unordered_map<std::string, Index> numbers = vp::StringMetaCache(descriptor_of(p).getMetadata()).map();
    vp::StringMetaInserter inserter(const_cast<vp::AttributeSet::Descriptor &>(descriptor_of(p)).getMetadata());
    for (size_t l = 0; l < p.leaves.size(); l++) {
        vp::AttributeArray &array = p.leaves[l]->attributeArray(attribute.place);
        array.expand();
        vp::AttributeWriteHandle<Index, vp::StringCodec<false>> handle(array);
        for (Index i = 0; i < leaf_count(p, l); i++) {
            const rh_lang_text &text = texts[p.starts[l] + i];
            const std::string word(text.data ? text.data : "", size_t(text.length));
            const auto known = numbers.find(word);
            const Index number = word.empty() ? 0 : known != numbers.end() ? known->second : numbers[word] = inserter.insert(word);
            handle.set(i, number);
        }
    }
}

}  // namespace

// ------------------------------------------------------------------------------------------------------------- the border

extern "C" rh_code rh_vdb_points_open(rh_vdb_data *data, int grid, rh_vdb_points **out, rh_status *status)
{
    const Entry &entry = data->entries[size_t(grid)];
    *out = nullptr;
    return guarded(entry.name.c_str(), RH_USER, status, [&] {
        auto points = std::make_unique<rh_vdb_points>();
        points->grid = static_cast<vp::PointDataGrid *>(entry.grid.get());
        open_points(*points);
        *out = points.release();
        return RH_OK;
    });
}

extern "C" void rh_vdb_points_close(rh_vdb_points *points) { delete points; }
extern "C" int64_t rh_vdb_points_count(const rh_vdb_points *points) { return points->starts.back(); }
extern "C" int rh_vdb_points_attributes(const rh_vdb_points *points) { return int(points->attributes.size()); }

extern "C" rh_vdb_attribute rh_vdb_points_attribute(const rh_vdb_points *points, int attribute)
{
    const Attribute &a = points->attributes[size_t(attribute)];
    return {a.name.c_str(), a.stored.c_str(), a.type};
}

extern "C" int rh_vdb_points_find(const rh_vdb_points *points, const char *name)
{
    for (size_t i = 0; i < points->attributes.size(); i++)
        if (points->attributes[i].name == name) return int(i);
    return -1;
}

extern "C" rh_code rh_vdb_points_add(rh_vdb_points *points, const char *name, rh_lang_type type, rh_status *status)
{
    return guarded(name, RH_IO, status, [&] { return add_attribute(*points, name, type), RH_OK; });
}

extern "C" rh_code rh_vdb_points_copy(const rh_vdb_points *points, int attribute, void *out, rh_status *status)
{
    const Attribute &a = points->attributes[size_t(attribute)];
    const size_t size = rh_lang_type_size(a.type);
    return guarded(a.name.c_str(), RH_IO, status, [&] {
        tbb::parallel_for(size_t(0), points->leaves.size(), [&](size_t l) {
            const vp::AttributeArray &array = array_of(*points, l, a);
            char *to = static_cast<char *>(out) + size_t(points->starts[l]) * size;
            const Index count = leaf_count(*points, l);
            if (a.storage == Storage::coded) return decode_any(array, a.type, count, to);
            for (Index i = 0; i < count; i++) std::memcpy(to + i * size, array.constDataAsByteArray() + (array.isUniform() ? 0 : i * size), size);
        });
        return RH_OK;
    });
}

extern "C" rh_code rh_vdb_points_positions(const rh_vdb_points *points, rh_vec3 *out, rh_status *status)
{
    return guarded("P", RH_IO, status, [&] {
        tbb::parallel_for(size_t(0), points->leaves.size(), [&](size_t l) { leaf_positions(*points, l, out + points->starts[l]); });
        return RH_OK;
    });
}

extern "C" int rh_vdb_points_groups(const rh_vdb_points *points) { return int(points->groups.size()); }
extern "C" const char *rh_vdb_points_group(const rh_vdb_points *points, int group) { return points->groups[size_t(group)].c_str(); }

extern "C" rh_code rh_vdb_points_group_read(const rh_vdb_points *points, const char *name, uint8_t *out, rh_status *status)
{
    return guarded(name, RH_IO, status, [&] {
        tbb::parallel_for(size_t(0), points->leaves.size(), [&](size_t l) {
            const auto handle = points->leaves[l]->groupHandle(name);
            for (Index i = 0; i < leaf_count(*points, l); i++) out[points->starts[l] + i] = handle.get(i);
        });
        return RH_OK;
    });
}

extern "C" rh_code rh_vdb_points_group_write(rh_vdb_points *points, const char *name, const uint8_t *member, rh_status *status)
{
    return guarded(name, RH_IO, status, [&] { return write_group(*points, name, member), RH_OK; });
}

extern "C" rh_code rh_vdb_points_texts(const rh_vdb_points *points, int attribute, rh_lang_text *out, rh_status *status)
{
    const Attribute &a = points->attributes[size_t(attribute)];
    return guarded(a.name.c_str(), RH_IO, status, [&] {
        tbb::parallel_for(size_t(0), points->leaves.size(), [&](size_t l) { texts_of_leaf(*points, l, a, out + points->starts[l]); });
        return RH_OK;
    });
}

extern "C" rh_code rh_vdb_points_texts_write(rh_vdb_points *points, int attribute, const rh_lang_text *texts, rh_status *status)
{
    const Attribute &a = points->attributes[size_t(attribute)];
    return guarded(a.name.c_str(), RH_IO, status, [&] { return write_texts(*points, a, texts), RH_OK; });
}

extern "C" rh_code rh_vdb_points_visit(rh_vdb_points *points, const rh_vdb_points_job *job, const rh_vdb_visitor *visitor, rh_status *status)
{
    return guarded(points->grid->getName().c_str(), RH_IO, status, [&] {
        std::vector<Scratch> scratch(size_t(rh_threads()), Scratch(size_t(job->count)));
        return rh_vdb::for_blocks(*visitor, int64_t(points->leaves.size()), status,
                          [&](int slot, int64_t block) { visit_leaf(*points, *job, *visitor, slot, size_t(block), scratch[size_t(slot)]); });
    });
}

extern "C" rh_code rh_vdb_points_rebuild(rh_vdb_points *points, const rh_vec3 *positions, const uint8_t *dead, rh_status *status)
{
    if (points->leaves.empty()) return RH_OK;
    return guarded(points->grid->getName().c_str(), RH_NUMERIC, status, [&] { return rebuild(*points, positions, dead, status); });
}
