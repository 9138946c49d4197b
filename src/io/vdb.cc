// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// OpenVDB points behind a C border. Writing sorts the points by leaf (8^3 voxels) and fills each leaf by hand: a
// counting sort by voxel, then one tight loop per attribute. The order in the file depends on the points alone, which
// the library's own point partitioner does not promise, and no call per point is virtual.
//
// A position is stored as a float offset from its voxel's centre, computed in double. The error is at most 2^-26 of a
// cell, less than the rounding of a float P one cell or more away from the origin.
//
// Groups are OpenVDB's own: bits of hidden byte attributes, eight groups in each, found by name through the descriptor.
// So any program that knows groups sees them. OpenVDB keeps the names of groups and of attributes apart, a set of
// points does not.
#include "io/vdb_leaf.hh"
#include "io/vdb_points_grid.hh"
#include "io/vdb_shared.hh"

extern "C" {
#include "base/param.h"
#include "io/vdb_sets.h"
#include "io/vdb_here.h"
}

#pragma GCC visibility push(default)
#include <openvdb/points/AttributeGroup.h>
#pragma GCC visibility pop
#include <tbb/parallel_sort.h>

#include <sstream>

namespace {

namespace vp = openvdb::points;
using openvdb::Coord;
using openvdb::Index;
using Leaf = vp::PointDataTree::LeafNodeType;
template <typename T> using Array = vp::TypedAttributeArray<T, vp::NullCodec>;
using rh_vdb::guarded;

// --- writing ---------------------------------------------------------------------------------------------------------

struct PointInLeaf {
    uint64_t leaf;  // 21 bits an axis
    uint64_t index;
};

struct Source {
    const rh_points *points;
    const rh_vec3 *P;
    double cell;
    bool turn;  // y up -> z up

    openvdb::Vec3d voxel_position(uint64_t index) const
    {
        const rh_vec3 p = P[index];
        return turn ? openvdb::Vec3d(p.x / cell, -double(p.z) / cell, p.y / cell)
                    : openvdb::Vec3d(p.x / cell, p.y / cell, p.z / cell);
    }
};

// Entries in the order of leaves; points of one leaf keep the order of the set.
rh_code sort_by_leaf(const char *path, const Source &source, std::vector<PointInLeaf> &entries, rh_status *status)
{
    std::atomic<uint64_t> stray{UINT64_MAX};
    tbb::parallel_for(tbb::blocked_range<size_t>(0, entries.size(), RH_BLOCK), [&](const auto &range) {
        for (size_t i = range.begin(); i < range.end(); i++) {
            const openvdb::Vec3d p = source.voxel_position(i);
            if (rh_voxel_in_range(p)) entries[i] = {rh_leaf_key(rh_nearest_voxel(p)), i};
            else
                for (uint64_t old = stray; i < old && !stray.compare_exchange_weak(old, i);) {
                }
        }
    });
    if (stray != UINT64_MAX) {
        const rh_vec3 p = source.P[stray];
        return rh_fail(status, RH_NUMERIC, "%s: point %llu is at (%g, %g, %g), too far away to be written", path,
                       (unsigned long long)stray, double(p.x), double(p.y), double(p.z));
    }
    auto before = [](const PointInLeaf &a, const PointInLeaf &b) {
        return a.leaf != b.leaf ? a.leaf < b.leaf : a.index < b.index;
    };
    tbb::parallel_sort(entries.begin(), entries.end(), before);
    return RH_OK;
}

// Counting sort of a leaf's points by voxel: `order` becomes the indices in file order, `ends` the voxels' offsets.
void sort_by_voxel(const Source &source, const PointInLeaf *entries, size_t count, std::vector<uint64_t> &order,
                   std::vector<Leaf::ValueType> &ends)
{
    std::vector<uint16_t> voxels(count);
    std::vector<uint32_t> starts(Leaf::NUM_VALUES + 1, 0);
    for (size_t i = 0; i < count; i++) {
        voxels[i] = uint16_t(Leaf::coordToOffset(rh_nearest_voxel(source.voxel_position(entries[i].index))));
        starts[voxels[i] + 1u]++;
    }
    for (size_t v = 0; v < Leaf::NUM_VALUES; v++) starts[v + 1] += starts[v];
    ends.resize(Leaf::NUM_VALUES);
    for (size_t v = 0; v < Leaf::NUM_VALUES; v++) ends[v] = starts[v + 1];
    order.resize(count);
    for (size_t i = 0; i < count; i++) order[starts[voxels[i]]++] = entries[i].index;
}

template <typename T> T convert(const void *from, bool)
{
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

template <> openvdb::Vec3f convert(const void *from, bool turn)
{
    rh_vec3 p;
    std::memcpy(&p, from, sizeof p);
    return turn ? openvdb::Vec3f(p.x, -p.z, p.y) : openvdb::Vec3f(p.x, p.y, p.z);
}

// Uniform attributes are written out for every point: OpenVDB 10 crashes when a program such as vdb_ax sets an
// attribute that is stored as one value in a file it has not fully read. Blosc packs the copies to nearly nothing.
template <typename T>
void fill(vp::AttributeArray &base, const rh_attribute &attribute, const std::vector<uint64_t> &order, bool turn)
{
    auto &array = static_cast<Array<T> &>(base);
    const char *data = static_cast<const char *>(attribute.data);
    const size_t size = rh_point_type_size(attribute.type);
    array.expand(false);
    if (attribute.uniform) return array.fill(convert<T>(data, turn));
    for (size_t i = 0; i < order.size(); i++) array.setUnsafe(Index(i), convert<T>(data + order[i] * size, turn));
}

void fill_any(vp::AttributeArray &array, const rh_attribute &attribute, const std::vector<uint64_t> &order, bool turn)
{
    switch (attribute.type) {
    case RH_POINT_F32: return fill<float>(array, attribute, order, turn);
    case RH_POINT_I32: return fill<int32_t>(array, attribute, order, turn);
    case RH_POINT_I64: return fill<int64_t>(array, attribute, order, turn);
    case RH_POINT_VEC3F: return fill<openvdb::Vec3f>(array, attribute, order, turn);
    case RH_POINT_MAT3F: return fill<openvdb::math::Mat3s>(array, attribute, order, turn);
    case RH_POINT_GROUP: return;  // fill_groups
    }
}

// Eight groups, the lowest bit first. Expanded for the same reason as in `fill`.
void fill_groups(vp::AttributeArray &base, const rh_attribute *const *groups, size_t count,
                 const std::vector<uint64_t> &order)
{
    auto &array = vp::GroupAttributeArray::cast(base);
    array.expand(true);
    for (size_t g = 0; g < count; g++) {
        const auto *member = static_cast<const uint8_t *>(groups[g]->data);
        for (size_t i = 0; i < order.size(); i++)
            if (member[groups[g]->uniform ? 0 : order[i]])
                array.setUnsafe(Index(i), vp::GroupType(array.getUnsafe(Index(i)) | 1u << g));
    }
}

void fill_positions(vp::AttributeArray &base, const Source &source, const std::vector<uint64_t> &order)
{
    auto &array = static_cast<Array<openvdb::Vec3f> &>(base);
    array.expand(false);
    for (size_t i = 0; i < order.size(); i++) {
        const openvdb::Vec3d p = source.voxel_position(order[i]);
        array.setUnsafe(Index(i), openvdb::Vec3f(p - rh_nearest_voxel(p).asVec3d()));
    }
}

openvdb::NamePair file_type(rh_point_type type)
{
    switch (type) {
    case RH_POINT_I32: return Array<int32_t>::attributeType();
    case RH_POINT_I64: return Array<int64_t>::attributeType();
    case RH_POINT_VEC3F: return Array<openvdb::Vec3f>::attributeType();
    case RH_POINT_MAT3F: return Array<openvdb::math::Mat3s>::attributeType();
    case RH_POINT_GROUP: return vp::GroupAttributeArray::attributeType();
    case RH_POINT_F32: break;
    }
    return Array<float>::attributeType();
}

std::vector<const rh_attribute *> attributes_to_write(const rh_points *points, bool groups)
{
    std::vector<const rh_attribute *> list;
    for (int i = 0; i < points->attribute_count; i++) {
        const rh_attribute &attribute = points->attributes[i];
        const bool wanted = !attribute.transient && (attribute.type == RH_POINT_GROUP) == groups;
        if (wanted && std::strcmp(attribute.name, "P") != 0) list.push_back(&attribute);
    }
    return list;
}

constexpr size_t GROUPS_A_BYTE = 8;

// P, the attributes, then the bytes of the groups.
vp::AttributeSet::Descriptor::Ptr describe_attributes(const std::vector<const rh_attribute *> &list,
                                                      const std::vector<const rh_attribute *> &groups)
{
    auto descriptor = vp::AttributeSet::Descriptor::create(Array<openvdb::Vec3f>::attributeType());
    for (const rh_attribute *attribute : list)
        descriptor = descriptor->duplicateAppend(attribute->name, file_type(attribute->type));
    for (size_t g = 0; g < groups.size(); g += GROUPS_A_BYTE)
        descriptor = descriptor->duplicateAppend(descriptor->uniqueName("__group"), file_type(RH_POINT_GROUP));
    for (size_t g = 0; g < groups.size(); g++) descriptor->setGroup(groups[g]->name, g, /*checkValidOffset=*/true);
    return descriptor;
}

vp::PointDataTree::Ptr build_tree(const Source &source, const std::vector<PointInLeaf> &entries)
{
    std::vector<size_t> starts;
    std::vector<Leaf *> leaves;
    auto tree = std::make_shared<vp::PointDataTree>();
    for (size_t i = 0; i < entries.size(); i++) {
        if (i > 0 && entries[i].leaf == entries[i - 1].leaf) continue;
        starts.push_back(i);
        leaves.push_back(new Leaf(rh_leaf_origin(entries[i].leaf)));
        tree->addLeaf(leaves.back());  // owns it from here
    }
    starts.push_back(entries.size());
    const auto list = attributes_to_write(source.points, false), groups = attributes_to_write(source.points, true);
    const auto descriptor = describe_attributes(list, groups);
    vp::AttributeArray::ScopedRegistryLock lock;
    tbb::parallel_for(size_t(0), leaves.size(), [&](size_t l) {
        std::vector<uint64_t> order;
        std::vector<Leaf::ValueType> ends;
        sort_by_voxel(source, &entries[starts[l]], starts[l + 1] - starts[l], order, ends);
        leaves[l]->replaceAttributeSet(new vp::AttributeSet(descriptor, Index(order.size()), &lock), true);
        leaves[l]->setOffsets(ends);
        fill_positions(leaves[l]->attributeArray(0), source, order);
        for (size_t a = 0; a < list.size(); a++)
            fill_any(leaves[l]->attributeArray(a + 1), *list[a], order,
                     source.turn && !rh_point_is_colour(list[a]->name, list[a]->type));
        for (size_t g = 0; g < groups.size(); g += GROUPS_A_BYTE)
            fill_groups(leaves[l]->attributeArray(1 + list.size() + g / GROUPS_A_BYTE), &groups[g],
                        std::min(GROUPS_A_BYTE, groups.size() - g), order);
    });
    return tree;
}

// Names of the uniform attributes, each followed by a space, for our own reader.
std::string uniform_names(const rh_points *points)
{
    std::string names;
    for (const rh_attribute *attribute : attributes_to_write(points, false))
        if (attribute->uniform) names += std::string(attribute->name) + ' ';
    return names;
}

// OpenVDB lists grids by name: in which order they were given is told where there are several.
const char *const order_key = "rheo_order";

rh_code write_points(const char *path, const char *temporary, const rh_frame_set *sets, int count,
                     const rh_frame_info &info, rh_status *status)
{
    openvdb::GridCPtrVec grids;
    for (int i = 0; i < count; i++) {
        const rh_points *points = sets[i].points;
        const Source source = {points, static_cast<const rh_vec3 *>(rh_points_find(points, "P")->data), info.cell,
                               info.z_up != 0};
        std::vector<PointInLeaf> entries(size_t(points->count));
        RH_TRY(sort_by_leaf(path, source, entries, status));
        auto grid = vp::PointDataGrid::create(build_tree(source, entries));
        grid->setName(sets[i].name);
        grid->setCreator("rheo");
        grid->setTransform(openvdb::math::Transform::createLinearTransform(info.cell));
        rh_vdb::put_facts(*grid, info);
        grid->insertMeta("rheo_uniform", openvdb::StringMetadata(uniform_names(points)));
        if (count > 1) grid->insertMeta(order_key, openvdb::Int32Metadata(i));
        grids.push_back(grid);
    }
    return rh_vdb::write_sealed(temporary, grids, info, status);
}

// --- reading ---------------------------------------------------------------------------------------------------------

enum class Kind { f32, f64, i32, i64, vec3f, vec3d, mat3f, group, unknown };

Kind kind_of(const openvdb::Name &type)
{
    static const std::pair<const char *, Kind> known[] = {
        {"float", Kind::f32},   {"double", Kind::f64},  {"int32", Kind::i32},  {"int64", Kind::i64},
        {"vec3s", Kind::vec3f}, {"vec3d", Kind::vec3d}, {"mat3s", Kind::mat3f}};
    for (const auto &entry : known)
        if (type == entry.first) return entry.second;
    return Kind::unknown;
}

rh_point_type our_type(Kind kind)
{
    switch (kind) {
    case Kind::i32: return RH_POINT_I32;
    case Kind::i64: return RH_POINT_I64;
    case Kind::vec3f:
    case Kind::vec3d: return RH_POINT_VEC3F;
    case Kind::mat3f: return RH_POINT_MAT3F;
    case Kind::group: return RH_POINT_GROUP;
    default: return RH_POINT_F32;
    }
}

struct Column {
    openvdb::Name name;
    Kind kind;
    bool uniform;
    void *data = nullptr;
};

void store(float value, void *to) { std::memcpy(to, &value, sizeof value); }
void store(double value, void *to) { store(float(value), to); }
void store(int32_t value, void *to) { std::memcpy(to, &value, sizeof value); }
void store(int64_t value, void *to) { std::memcpy(to, &value, sizeof value); }
void store(const openvdb::Vec3f &value, void *to) { std::memcpy(to, value.asPointer(), 3 * sizeof(float)); }
void store(const openvdb::Vec3d &value, void *to) { store(openvdb::Vec3f(value), to); }
void store(const openvdb::math::Mat3s &value, void *to) { std::memcpy(to, value.asPointer(), 9 * sizeof(float)); }

template <typename T> void copy_values(const vp::AttributeArray &array, Index count, size_t size, void *to)
{
    char *out = static_cast<char *>(to);
    if (array.codecType() == vp::NullCodec::name()) {
        const auto &plain = static_cast<const Array<T> &>(array);
        for (Index i = 0; i < count; i++) store(plain.getUnsafe(i), out + i * size);
    } else {
        vp::AttributeHandle<T> handle(array);
        for (Index i = 0; i < count; i++) store(handle.get(i), out + i * size);
    }
}

void copy_any(const vp::AttributeArray &array, Kind kind, Index count, void *to)
{
    const size_t size = rh_point_type_size(our_type(kind));
    switch (kind) {
    case Kind::f32: return copy_values<float>(array, count, size, to);
    case Kind::f64: return copy_values<double>(array, count, size, to);
    case Kind::i32: return copy_values<int32_t>(array, count, size, to);
    case Kind::i64: return copy_values<int64_t>(array, count, size, to);
    case Kind::vec3f: return copy_values<openvdb::Vec3f>(array, count, size, to);
    case Kind::vec3d: return copy_values<openvdb::Vec3d>(array, count, size, to);
    case Kind::mat3f: return copy_values<openvdb::math::Mat3s>(array, count, size, to);
    case Kind::group:
    case Kind::unknown: return;
    }
}

// A damaged file may name places that a leaf does not have; the library only asserts that it does.
const vp::AttributeArray *array_at(const vp::AttributeSet &set, size_t place)
{
    return place < set.size() ? set.getConst(place) : nullptr;
}

const vp::AttributeArray &array_of(const Leaf &leaf, const Column &column)
{
    const vp::AttributeArray *array = array_at(leaf.attributeSet(), leaf.attributeSet().find(column.name));
    if (!array || kind_of(array->valueType()) != column.kind || array->stride() != 1 ||
        array->size() < leaf.getLastValue())
        throw std::runtime_error("a leaf has no proper attribute " + column.name);
    return *array;
}

// The byte array that holds a group of a leaf, and the group's bit. Throws when there is none.
const vp::GroupAttributeArray &group_of(const Leaf &leaf, const openvdb::Name &name, vp::GroupType &bit)
{
    const auto index = leaf.attributeSet().groupIndex(name);
    const vp::AttributeArray *array = array_at(leaf.attributeSet(), index.first);
    if (!array || !vp::isGroup(*array) || array->stride() != 1 || array->size() < leaf.getLastValue() ||
        index.second >= GROUPS_A_BYTE)
        throw std::runtime_error("a leaf has no proper group " + name);
    bit = vp::GroupType(1u << index.second);
    return vp::GroupAttributeArray::cast(*array);
}

void copy_group(const Leaf &leaf, const openvdb::Name &name, Index count, uint8_t *to)
{
    vp::GroupType bit;
    const vp::GroupAttributeArray &array = group_of(leaf, name, bit);
    for (Index i = 0; i < count; i++) to[i] = (array.getUnsafe(i) & bit) != 0;
}

// The voxel of every point: offsets must rise and stay within the attribute, or the file is damaged.
template <typename Position>
void copy_positions(const Leaf &leaf, const vp::AttributeArray &array, const openvdb::math::Transform &transform,
                    rh_vec3 *to)
{
    vp::AttributeHandle<Position> handle(array);
    Index point = 0;
    for (Index v = 0; v < Leaf::NUM_VALUES; v++) {
        const Index end = leaf.buffer()[v];
        if (end < point || end > array.size()) throw std::runtime_error("a leaf's point offsets do not rise");
        const openvdb::Vec3d centre = leaf.offsetToGlobalCoord(v).asVec3d();
        for (; point < end; point++)
            store(transform.indexToWorld(centre + openvdb::Vec3d(handle.get(point))), &to[point]);
    }
}

std::vector<const Leaf *> leaves_of(const vp::PointDataGrid &grid)
{
    std::vector<const Leaf *> leaves;
    for (auto leaf = grid.tree().cbeginLeaf(); leaf; ++leaf) leaves.push_back(&*leaf);
    return leaves;
}

// One value for all points: every leaf holds it, packed, or spelt out where our writer says that it was uniform. What
// every simulation varies is never made uniform, though another program may have packed it so: readers count on P, v
// and id per point.
bool is_uniform(const std::vector<const Leaf *> &leaves, const Column &column, const std::string &listed)
{
    if (column.name == "v" || column.name == "id") return false;
    const bool named = (' ' + listed).find(' ' + column.name + ' ') != std::string::npos;
    const size_t size = rh_point_type_size(our_type(column.kind));
    std::vector<char> first(size), values;
    for (size_t l = 0; l < leaves.size(); l++) {
        const vp::AttributeArray &array = array_of(*leaves[l], column);
        if ((!array.isUniform() && !named) || array.size() == 0) return false;
        const Index count = array.isUniform() ? 1 : array.size();
        values.resize(count * size);
        copy_any(array, column.kind, count, values.data());
        if (l == 0) std::memcpy(first.data(), values.data(), size);
        for (Index i = 0; i < count; i++)
            if (std::memcmp(first.data(), &values[i * size], size) != 0) return false;
    }
    return true;
}

// Groups in the order of their bits. Always one value a point: whoever looks for a group may want to change it.
void plan_groups(const char *path, const vp::AttributeSet &set, std::vector<Column> &columns)
{
    std::multimap<size_t, openvdb::Name> by_bit;
    for (const auto &entry : set.descriptor().groupMap()) by_bit.emplace(entry.second, entry.first);
    for (const auto &entry : by_bit) {
        const openvdb::Name &name = entry.second;
        const auto same = [&](const Column &column) { return column.name == name; };
        const bool taken = name == "P" || std::any_of(columns.begin(), columns.end(), same);
        const bool fits = !name.empty() && name.size() < RH_POINT_NAME && columns.size() + 1 < RH_POINTS_MAX_ATTRIBUTES;
        if (fits && !taken) columns.push_back(Column{name, Kind::group, false});
        else
            rh_log(RH_LOG_WARNING, "%s: point group %s is skipped: %s", path, name.c_str(),
                   taken ? "an attribute has that name" : "its name is too long, or there are too many");
    }
}

// What can be read, in the order of the file; the rest is named in a warning.
std::vector<Column> plan_columns(const char *path, const std::vector<const Leaf *> &leaves, const std::string &listed)
{
    std::vector<Column> columns;
    const vp::AttributeSet &set = leaves[0]->attributeSet();
    std::map<size_t, openvdb::Name> by_position;
    for (const auto &entry : set.descriptor().map()) by_position[entry.second] = entry.first;
    for (const auto &entry : by_position) {
        const vp::AttributeArray *array = array_at(set, entry.first);
        if (!array || entry.second == "P") continue;
        if (vp::isGroup(*array)) continue;
        const Kind kind = vp::isString(*array) ? Kind::unknown : kind_of(array->valueType());
        const bool fits = array->stride() == 1 && array->hasConstantStride() && entry.second.size() < RH_POINT_NAME;
        if (kind == Kind::unknown || !fits || columns.size() + 1 >= RH_POINTS_MAX_ATTRIBUTES) {
            rh_log(RH_LOG_WARNING, "%s: point attribute %s (%s) is skipped: not a type Rheo reads", path,
                   entry.second.c_str(), array->valueType().c_str());
            continue;
        }
        Column column{entry.second, kind, false};
        column.uniform = is_uniform(leaves, column, listed);
        columns.push_back(column);
    }
    plan_groups(path, set, columns);
    return columns;
}

rh_code add_columns(const std::vector<const Leaf *> &leaves, std::vector<Column> &columns, rh_points *points,
                    rh_status *status)
{
    for (Column &column : columns) {
        float value[9] = {0};
        if (column.uniform) {
            copy_any(array_of(*leaves[0], column), column.kind, 1, value);
            RH_TRY(rh_points_add_uniform(points, column.name.c_str(), our_type(column.kind), value, status));
        } else {
            RH_TRY(rh_points_add(points, column.name.c_str(), our_type(column.kind), status));
        }
        column.data = rh_points_find(points, column.name.c_str())->data;
    }
    return RH_OK;
}

Column position_column(const Leaf &leaf)
{
    const vp::AttributeArray *array = array_at(leaf.attributeSet(), leaf.attributeSet().find("P"));
    const Kind kind = array ? kind_of(array->valueType()) : Kind::unknown;
    if (kind != Kind::vec3f && kind != Kind::vec3d) throw std::runtime_error("the points have no positions P");
    return Column{"P", kind, false};
}

rh_code copy_points(const char *path, const vp::PointDataGrid &grid, rh_points *points, rh_status *status)
{
    RH_TRY(rh_points_add(points, "P", RH_POINT_VEC3F, status));
    const auto leaves = leaves_of(grid);
    if (leaves.empty()) return RH_OK;
    const Column position = position_column(*leaves[0]);
    std::vector<int64_t> starts(1, 0);
    for (const Leaf *leaf : leaves) {
        array_of(*leaf, position);  // before the count is believed
        starts.push_back(starts.back() + int64_t(leaf->getLastValue()));
    }
    RH_TRY(rh_points_resize(points, starts.back(), status));
    std::string listed;
    rh_vdb::get_fact<openvdb::StringMetadata>(grid, "rheo_uniform", listed);
    auto columns = plan_columns(path, leaves, listed);
    RH_TRY(add_columns(leaves, columns, points, status));
    auto *P = static_cast<rh_vec3 *>(rh_points_data(points, "P", RH_POINT_VEC3F));
    tbb::parallel_for(size_t(0), leaves.size(), [&](size_t l) {
        const Leaf &leaf = *leaves[l];
        const Index count = Index(starts[l + 1] - starts[l]);
        const vp::AttributeArray &positions = array_of(leaf, position);
        if (position.kind == Kind::vec3f)
            copy_positions<openvdb::Vec3f>(leaf, positions, grid.transform(), P + starts[l]);
        else copy_positions<openvdb::Vec3d>(leaf, positions, grid.transform(), P + starts[l]);
        for (const Column &column : columns) {
            char *to = static_cast<char *>(column.data) + size_t(starts[l]) * rh_point_type_size(our_type(column.kind));
            if (column.kind == Kind::group) copy_group(leaf, column.name, count, reinterpret_cast<uint8_t *>(to));
            else if (!column.uniform) copy_any(array_of(leaf, column), column.kind, count, to);
            else array_of(leaf, column);  // proper in every leaf, read or not
        }
    });
    return RH_OK;
}

int order_of(openvdb::io::File &file, const std::string &name)
{
    const auto facts = file.readGridMetadata(name);
    const auto order = facts ? facts->getMetadata<openvdb::Int32Metadata>(order_key) : nullptr;
    return order ? order->value() : 0;
}

// The points grid of that name, or the first. `sets` gets the names of all points grids, `others` those of all grids.
std::string find_points(openvdb::io::File &file, const char *wanted, std::vector<std::string> &sets,
                        std::string &others)
{
    std::string found;
    int first = INT_MAX, count = 0;
    for (auto name = file.beginName(); name != file.endName(); ++name) {
        const std::string type = rh_vdb::grid_type(file, name.gridName());
        const bool points = type == openvdb::typeNameAsString<vp::PointDataGrid::ValueType>();
        others += (others.empty() ? "" : ", ") + name.gridName();
        if (points) sets.push_back(name.gridName());
        else others += " (" + type + ")";
        if (!points || (wanted && name.gridName() != wanted)) continue;
        const int order = count++ ? order_of(file, name.gridName()) : -1;
        if (count == 2) first = order_of(file, found);
        if (count == 1 || order < first) {
            found = name.gridName();
            first = count == 1 ? first : order;
        }
    }
    return found;
}

rh_code no_such_points(const char *path, const char *wanted, const std::vector<std::string> &sets,
                       const std::string &others, rh_status *status)
{
    std::vector<const char *> names;
    for (const std::string &name : sets) names.push_back(name.c_str());
    const char *nearest = rh_nearest_name(wanted, names.data(), int(names.size()));
    const std::string hint = nearest ? std::string("; did you mean '") + nearest + "'?" : "";
    return rh_fail(status, RH_USER, "%s: holds no points called '%s'; found %s%s", path, wanted,
                   others.empty() ? "nothing" : others.c_str(), hint.c_str());
}

rh_code read_points(const char *path, const char *wanted, rh_points *points, rh_frame_info *info, rh_status *status)
{
    RH_TRY(rh_vdb_check(path, status));
    openvdb::io::File file(path);
    file.open(/*delayLoad=*/false);
    std::vector<std::string> sets;
    std::string others;
    const std::string name = find_points(file, wanted, sets, others);
    if (!name.empty()) {
        auto grid = openvdb::gridPtrCast<vp::PointDataGrid>(file.readGrid(name));
        if (!grid) throw std::runtime_error("its points grid cannot be read");
        if (info) *info = rh_vdb::get_facts(*grid);
        return copy_points(path, *grid, points, status);
    }
    if (wanted) return no_such_points(path, wanted, sets, others, status);
    return rh_fail(status, RH_USER, "%s: holds no points grid; found %s", path,
                   others.empty() ? "nothing" : others.c_str());
}

// --- description -----------------------------------------------------------------------------------------------------

uint64_t group_size(const std::vector<const Leaf *> &leaves, const openvdb::Name &name)
{
    uint64_t size = 0;
    for (const Leaf *leaf : leaves) {
        vp::GroupType bit;
        const vp::GroupAttributeArray &array = group_of(*leaf, name, bit);
        for (Index i = 0; i < leaf->getLastValue(); i++) size += (array.getUnsafe(i) & bit) != 0;
    }
    return size;
}

void describe_points(std::ostream &out, const vp::PointDataGrid &grid)
{
    uint64_t count = 0;
    const auto leaves = leaves_of(grid);
    for (const Leaf *leaf : leaves) count += leaf->getLastValue();
    out << ", " << count << " points";
    if (leaves.empty()) return;
    out << ", attributes";
    const vp::AttributeSet &set = leaves[0]->attributeSet();
    for (const auto &entry : set.descriptor().map()) {
        const vp::AttributeArray *array = array_at(set, entry.second);
        if (array && !vp::isGroup(*array))
            out << ' ' << entry.first << ':' << (vp::isString(*array) ? "string" : array->valueType());
    }
    for (const auto &entry : set.descriptor().groupMap())
        out << ", group " << entry.first << " of " << group_size(leaves, entry.first) << " points";
}

// The least and the largest value of active voxels; of vectors the largest length.
void describe_values(std::ostream &out, const openvdb::GridBase &any)
{
    using Numbers = openvdb::TypeList<openvdb::FloatGrid, openvdb::Int32Grid, openvdb::Int64Grid>;
    any.apply<Numbers>([&](const auto &grid) {
        auto value = grid.cbeginValueOn();
        if (!value) return;
        auto low = *value, high = *value;
        for (; value; ++value) low = std::min(low, *value), high = std::max(high, *value);
        out << ", " << low << " to " << high;
    });
    any.apply<openvdb::TypeList<openvdb::Vec3SGrid>>([&](const auto &grid) {
        float longest = 0;
        for (auto value = grid.cbeginValueOn(); value; ++value) longest = std::max(longest, (*value).length());
        out << ", lengths up to " << longest;
    });
}

// What our files say of themselves.
std::string facts_of(const openvdb::GridBase &grid)
{
    std::ostringstream out;
    for (auto item = grid.beginMeta(); item != grid.endMeta(); ++item)
        if (item->first.compare(0, 5, "rheo_") == 0) out << ", " << item->first.substr(5) << ' ' << item->second->str();
    return out.str();
}

void describe_kind(std::ostream &out, const openvdb::GridBase &grid)
{
    out << grid.valueType();
    if (grid.getGridClass() != openvdb::GRID_UNKNOWN)
        out << ", " << openvdb::GridBase::gridClassToString(grid.getGridClass());
    if (grid.getVectorType() == openvdb::VEC_CONTRAVARIANT_RELATIVE) out << ", velocity";
    out << ", voxel " << grid.voxelSize().x() << " m, ";
    const auto *distances = dynamic_cast<const openvdb::FloatGrid *>(&grid);
    if (distances && grid.getGridClass() == openvdb::GRID_LEVEL_SET)
        out << "band of " << distances->background() / grid.voxelSize().x() << " voxels, ";
}

// `said` are the facts of the grid before; all grids of a frame have the same.
void describe_grid(std::ostream &out, openvdb::io::File &file, const openvdb::Name &name, std::string &said)
{
    auto grid = file.readGrid(name);
    const openvdb::CoordBBox box = grid->evalActiveVoxelBoundingBox();
    out << name << ": ";
    describe_kind(out, *grid);
    out << grid->activeVoxelCount() << " active voxels";
    if (!box.empty()) out << " in " << box.min() << ".." << box.max();
    if (auto points = openvdb::gridPtrCast<vp::PointDataGrid>(grid)) describe_points(out, *points);
    else describe_values(out, *grid);
    const std::string facts = facts_of(*grid);
    if (facts != said) out << facts;
    said = facts;
    out << '\n';
}

rh_code describe(const char *path, std::string &text, rh_status *status)
{
    RH_TRY(rh_vdb_check(path, status));
    openvdb::io::File file(path);
    file.open(/*delayLoad=*/false);
    std::ostringstream out;
    std::string said;
    for (auto name = file.beginName(); name != file.endName(); ++name) {
        if (rh_vdb::grid_type(file, name.gridName()) == "unknown") out << name.gridName() << ": of an unknown type\n";
        else describe_grid(out, file, name.gridName(), said);
    }
    text = out.str();
    return RH_OK;
}

// What is written was made by this library from what it has in memory, so its lengths fit to each other.
rh_code copy_file(const char *path, const char *to, rh_status *status)
{
    RH_TRY(rh_vdb_check(path, status));
    openvdb::io::File file(path);
    file.open(/*delayLoad=*/false);
    openvdb::GridPtrVec grids;
    for (auto name = file.beginName(); name != file.endName(); ++name) {
        if (rh_vdb::grid_type(file, name.gridName()) == "unknown")
            return rh_fail(status, RH_USER, "%s: the grid %s is of an unknown type and could not be written again",
                           path, name.gridName().c_str());
        auto grid = file.readGrid(name.gridName());
        if (!grid) throw std::runtime_error("the grid " + name.gridName() + " cannot be read");
        grids.push_back(grid);
    }
    openvdb::io::File(to).write(grids, *file.getMetadata());
    return RH_OK;
}

}  // namespace

extern "C" rh_code rh_vdb_copy_here(const char *path, const char *to, rh_status *status)
{
    return guarded(path, RH_USER, status, [&] { return copy_file(path, to, status); });
}

extern "C" rh_code rh_vdb_write_points(const char *path, const rh_points *points, const rh_frame_info *info,
                                       rh_status *status)
{
    const rh_frame_set set = {"points", points};
    return rh_vdb_write_sets(path, &set, 1, info, status);
}

extern "C" rh_code rh_vdb_write_sets(const char *path, const rh_frame_set *sets, int count, const rh_frame_info *info,
                                     rh_status *status)
{
    for (int i = 0; i < count; i++) {
        const rh_attribute *position = rh_points_find(sets[i].points, "P");
        if (!position || position->type != RH_POINT_VEC3F || position->uniform)
            return rh_fail(status, RH_USER, "%s: the points have no positions (attribute P of type vec3f)", path);
    }
    if (!(info->cell > 0) || !std::isfinite(info->cell))
        return rh_fail(status, RH_USER, "%s: the cell size must be positive, found %g", path, info->cell);
    char temporary[RH_PATH_MAX];
    RH_TRY(rh_file_temporary(path, temporary, status));
    const rh_code code = guarded(path, RH_IO, status,
                                 [&] { return write_points(path, temporary, sets, count, *info, status); });
    if (code == RH_OK) return rh_file_commit(temporary, path, status);
    rh_file_discard(temporary);
    return code;
}

extern "C" rh_code rh_vdb_read_points_here(const char *path, const char *name, rh_points *points, rh_frame_info *info,
                                           rh_status *status)
{
    const rh_code code = guarded(path, RH_USER, status, [&] { return read_points(path, name, points, info, status); });
    if (code != RH_OK) rh_points_free(points);
    return code;
}

extern "C" char *rh_vdb_describe_here(const char *path, rh_status *status)
{
    char *copy = nullptr;
    guarded(path, RH_USER, status, [&] {
        std::string text;
        RH_TRY(describe(path, text, status));
        copy = rh_strdup(text.c_str(), "io.vdb", status);
        return copy ? RH_OK : RH_MEMORY;
    });
    return copy;
}
