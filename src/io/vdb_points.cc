// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Points of .vdb files as columns. Arrays without a codec are visited where they are.
#include "io/vdb_points.hh"

#pragma GCC visibility push(default)
#include <openvdb/points/AttributeArrayString.h>
#include <openvdb/points/AttributeGroup.h>
#include <openvdb/points/PointAttribute.h>
#include <openvdb/points/PointGroup.h>
#pragma GCC visibility pop

#include <map>
#include <memory>

namespace vp = openvdb::points;
using openvdb::Index;
using rh_vdb::Attribute;
using rh_vdb::bytes_of;
using rh_vdb::counted_from;
using rh_vdb::end_of;
using rh_vdb::Entry;
using rh_vdb::guarded;
using rh_vdb::Leaf;
using rh_vdb::leaf_count;
using rh_vdb::room;
using rh_vdb::Scratch;
using rh_vdb::Storage;

namespace {

struct Stored {
    const char *name;
    rh_lang_type type;
};
const Stored stored_types[] = {{"bool", RH_LANG_BOOL},   {"int16", RH_LANG_INT16}, {"int32", RH_LANG_INT32},
                               {"int64", RH_LANG_INT64}, {"float", RH_LANG_FLOAT}, {"double", RH_LANG_DOUBLE},
                               {"vec3i", RH_LANG_VEC3I}, {"vec3s", RH_LANG_VEC3F}, {"vec3d", RH_LANG_VEC3D},
                               {"mat3s", RH_LANG_MAT3F}, {"mat3d", RH_LANG_MAT3D}, {"mat4s", RH_LANG_MAT4F},
                               {"mat4d", RH_LANG_MAT4D}};

// Several numbers a point are a vector or a matrix.
rh_lang_type type_of_many(rh_lang_type one, Index stride)
{
    static const std::pair<Index, rh_lang_shape> shapes[] = {
        {2, RH_LANG_VEC2}, {3, RH_LANG_VEC3}, {4, RH_LANG_VEC4}, {9, RH_LANG_MAT3}, {16, RH_LANG_MAT4}};
    if (stride == 1) return one;
    const rh_lang_element element = rh_lang_type_element(one);
    if (rh_lang_type_shape(one) != RH_LANG_SCALAR ||
        (element != RH_LANG_E_INT32 && element != RH_LANG_E_FLOAT && element != RH_LANG_E_DOUBLE))
        return RH_LANG_VOID;
    for (const auto &shape : shapes)
        if (shape.first == stride && (element != RH_LANG_E_INT32 || stride <= 4))
            return RH_LANG_TYPE(shape.second, element);
    return RH_LANG_VOID;
}

Attribute describe_array(const openvdb::Name &name, size_t place, const vp::AttributeArray &array)
{
    Attribute a{name, array.valueType() + (array.codecType() == vp::NullCodec::name() ? "" : " " + array.codecType()),
                place, RH_LANG_VOID, Storage::unknown};
    if (array.stride() != 1) a.stored += " x " + std::to_string(array.stride());
    if (vp::isString(array)) a.type = RH_LANG_STRING, a.storage = Storage::text;
    if (a.storage == Storage::text || !array.hasConstantStride()) return a;
    for (const Stored &known : stored_types)
        if (array.valueType() == known.name) a.type = type_of_many(known.type, array.stride());
    const bool plain = array.codecType() == vp::NullCodec::name();
    // OpenVDB has codecs for float and vec3f only.
    const bool coded = !plain && array.stride() == 1 && (a.type == RH_LANG_FLOAT || a.type == RH_LANG_VEC3F);
    a.storage = plain ? Storage::plain : coded ? Storage::coded : Storage::unknown;
    if (name == "P" && (a.type == RH_LANG_VEC3F || a.type == RH_LANG_VEC3D))
        a.type = RH_LANG_VEC3F, a.storage = Storage::position;
    if (a.storage == Storage::unknown) a.type = RH_LANG_VOID;
    return a;
}

const vp::AttributeSet::Descriptor &descriptor_of(const rh_vdb_points &p)
{
    return p.leaves[0]->attributeSet().descriptor();
}

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

// The library asserts all this, in its debug build only. Arrays of several numbers a point are stored in full: the
// library's own code takes a uniform one for as long as it would be.
void check_leaf(Leaf &leaf, const vp::AttributeSet &first)
{
    const vp::AttributeSet &set = leaf.attributeSet();
    if (set.descriptor() != first.descriptor() || set.size() != first.size())
        throw std::runtime_error("the leaves have different attributes");
    const Index count = leaf.getLastValue();
    for (size_t i = 0; i < set.size(); i++) {
        const vp::AttributeArray *array = set.getConst(i), *model = first.getConst(i);
        if (!array || !model || array->size() < count || array->type() != model->type() ||
            array->stride() != model->stride())
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
        if (index.first >= set.size() || !vp::isGroup(*set.getConst(index.first)) || index.second >= 8)
            throw std::runtime_error("there is no proper group " + name);
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
    tbb::parallel_for(size_t(0), p.leaves.size(),
                      [&](size_t l) { check_leaf(*p.leaves[l], p.leaves[0]->attributeSet()); });
    list_attributes(p);
    check_groups(p);
    for (const Attribute &a : p.attributes)
        if (a.storage == Storage::position) return;
    throw std::runtime_error("the points have no positions P");
}

const vp::AttributeArray &array_of(const rh_vdb_points &p, size_t leaf, const Attribute &a)
{
    return *p.leaves[leaf]->attributeSet().getConst(a.place);
}

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
        out[i] = found == p.texts.end() ? rh_lang_text{"", 0}
                                        : rh_lang_text{found->second.c_str(), int64_t(found->second.size())};
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

void visit_leaf(rh_vdb_points &p, const rh_vdb_points_job &job, const rh_vdb_visitor &visitor, int slot, size_t leaf,
                Scratch &scratch)
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
        columns[size_t(c)] = job.attributes[c] < 0 ? job.own[c]
                                                   : lend(p, leaf, p.attributes[size_t(job.attributes[c])],
                                                          job.writes[c], scratch[size_t(c)]);
    const rh_lang_elements elements = {columns.data(), job.only ? chosen.data() : nullptr};
    if (visitor.visit(visitor.user, slot, int64_t(leaf), origin, &elements, begin, end) != RH_OK) return;
    for (int c = 0; c < job.count; c++) {
        if (job.attributes[c] < 0 || !job.writes[c]) continue;
        const Attribute &a = p.attributes[size_t(job.attributes[c])];
        if (a.storage == Storage::coded)
            encode_any(p.leaves[leaf]->attributeArray(a.place), a.type, leaf_count(p, leaf), scratch[size_t(c)].data());
    }
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
    if (stride > 1)
        tbb::parallel_for(size_t(0), p.leaves.size(), [&](size_t l) { p.leaves[l]->attributeArray(name).expand(); });
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
            const Index number = word.empty()             ? 0
                                 : known != numbers.end() ? known->second
                                                          : numbers[word] = inserter.insert(word);
            handle.set(i, number);
        }
    }
}

}  // namespace

// --- the border ------------------------------------------------------------------------------------------------------

extern "C" rh_code rh_vdb_points_open(rh_vdb_data *data, int grid, rh_vdb_points **out, rh_status *status)
{
    const Entry &entry = data->entries[size_t(grid)];
    *out = nullptr;
    return guarded(entry.name.c_str(), RH_USER, status, [&] {
        auto points = std::make_unique<rh_vdb_points>();
        points->grid = static_cast<vp::PointDataGrid *>(entry.grid.get());
        points->watch = data->watch;
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
            for (Index i = 0; i < count; i++)
                std::memcpy(to + i * size, array.constDataAsByteArray() + (array.isUniform() ? 0 : i * size), size);
        });
        return RH_OK;
    });
}

extern "C" int rh_vdb_points_groups(const rh_vdb_points *points) { return int(points->groups.size()); }
extern "C" const char *rh_vdb_points_group(const rh_vdb_points *points, int group)
{
    return points->groups[size_t(group)].c_str();
}

extern "C" rh_code rh_vdb_points_group_read(const rh_vdb_points *points, const char *name, uint8_t *out,
                                            rh_status *status)
{
    return guarded(name, RH_IO, status, [&] {
        tbb::parallel_for(size_t(0), points->leaves.size(), [&](size_t l) {
            const auto handle = points->leaves[l]->groupHandle(name);
            for (Index i = 0; i < leaf_count(*points, l); i++) out[points->starts[l] + i] = handle.get(i);
        });
        return RH_OK;
    });
}

extern "C" rh_code rh_vdb_points_group_write(rh_vdb_points *points, const char *name, const uint8_t *member,
                                             rh_status *status)
{
    return guarded(name, RH_IO, status, [&] { return write_group(*points, name, member), RH_OK; });
}

extern "C" rh_code rh_vdb_points_texts(const rh_vdb_points *points, int attribute, rh_lang_text *out, rh_status *status)
{
    const Attribute &a = points->attributes[size_t(attribute)];
    return guarded(a.name.c_str(), RH_IO, status, [&] {
        tbb::parallel_for(size_t(0), points->leaves.size(),
                          [&](size_t l) { texts_of_leaf(*points, l, a, out + points->starts[l]); });
        return RH_OK;
    });
}

extern "C" rh_code rh_vdb_points_texts_write(rh_vdb_points *points, int attribute, const rh_lang_text *texts,
                                             rh_status *status)
{
    const Attribute &a = points->attributes[size_t(attribute)];
    return guarded(a.name.c_str(), RH_IO, status, [&] { return write_texts(*points, a, texts), RH_OK; });
}

extern "C" rh_code rh_vdb_points_visit(rh_vdb_points *points, const rh_vdb_points_job *job,
                                       const rh_vdb_visitor *visitor, rh_status *status)
{
    return guarded(points->grid->getName().c_str(), RH_IO, status, [&] {
        std::vector<Scratch> scratch(size_t(rh_threads()), Scratch(size_t(job->count)));
        return rh_vdb::for_blocks(*visitor, points->watch, int64_t(points->leaves.size()), status,
                                  [&](int slot, int64_t block) {
                                      visit_leaf(*points, *job, *visitor, slot, size_t(block), scratch[size_t(slot)]);
                                  });
    });
}
