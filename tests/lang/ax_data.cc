// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Text to .vdb and back, for comparing expressions with those of another program. Made with OpenVDB itself, which knows
// all attribute types.
//   ax_data make TEXT FILE.vdb     writes what the text says
//   ax_data dump FILE.vdb          prints the file as such a text
//   ax_data copy FILE.vdb FILE.vdb writes what is read, as OpenVDB does it
//
// The text, one line each; floating-point numbers in hexadecimal, so that nothing is rounded; strings in double quotes:
//   points COUNT                          then one line for each attribute, values in the order of the
//                                         attribute "id" (int32, ascending):
//   NAME TYPE VALUE ...                   all components of all points; TYPE as in the language, or group (0 and 1)
//   grid NAME TYPE SCALE BACKGROUND ...   then one line for each active value:
//   voxel X Y Z VALUE ...
//   tile X Y Z SIZE VALUE ...             the corner, and the number of voxels along an edge
#pragma GCC visibility push(default)
#include <openvdb/openvdb.h>
#include <openvdb/points/AttributeArrayString.h>
#include <openvdb/points/PointAttribute.h>
#include <openvdb/points/PointConversion.h>
#include <openvdb/points/PointGroup.h>
#pragma GCC visibility pop
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

namespace vp = openvdb::points;
using openvdb::Coord;

namespace {

// --- one value as text -----------------------------------------------------------------------------------------------

template <typename T> struct parts {
    using element = T;
    static constexpr int count = 1;
    static T *of(T &v) { return &v; }
};
template <typename C, typename T, int N> struct container {
    using element = T;
    static constexpr int count = N;
    static T *of(C &v) { return v.asPointer(); }
};
template <typename T> struct parts<openvdb::math::Vec3<T>> : container<openvdb::math::Vec3<T>, T, 3> {
};
template <typename T> struct parts<openvdb::math::Mat3<T>> : container<openvdb::math::Mat3<T>, T, 9> {
};
template <typename T> struct parts<openvdb::math::Mat4<T>> : container<openvdb::math::Mat4<T>, T, 16> {
};

std::string real(double value)
{
    char text[64];
    snprintf(text, sizeof text, "%a", value);
    return std::isnan(value) ? "nan" : text;
}
std::string number(float value) { return real(value); }
std::string number(double value) { return real(value); }
template <typename T> std::string number(T value) { return std::to_string((long long)value); }

void parse(const std::string &text, float &out) { out = strtof(text.c_str(), nullptr); }
void parse(const std::string &text, double &out) { out = strtod(text.c_str(), nullptr); }
template <typename T> void parse(const std::string &text, T &out) { out = T(strtoll(text.c_str(), nullptr, 10)); }

template <typename T> std::string show(T value)
{
    std::string text;
    for (int i = 0; i < parts<T>::count; i++) text += " " + number(parts<T>::of(value)[i]);
    return text;
}

template <typename T> T take(std::istream &in)
{
    T value;
    std::string word;
    for (int i = 0; i < parts<T>::count; i++) in >> word, parse(word, parts<T>::of(value)[i]);
    return value;
}

std::string take_string(std::istream &in)
{
    std::string text;
    in >> std::ws;
    in.get();
    std::getline(in, text, '"');
    return text;
}

// Calls `work` with a value of the C++ type behind a type's name.
template <typename Work> bool with_type(const std::string &type, Work work)
{
    if (type == "bool") return work(bool()), true;
    if (type == "int16") return work(int16_t()), true;
    if (type == "int32") return work(int32_t()), true;
    if (type == "int64") return work(int64_t()), true;
    if (type == "float") return work(float()), true;
    if (type == "double") return work(double()), true;
    if (type == "vec3i") return work(openvdb::Vec3i()), true;
    if (type == "vec3f") return work(openvdb::Vec3f()), true;
    if (type == "vec3d") return work(openvdb::Vec3d()), true;
    if (type == "mat3f") return work(openvdb::math::Mat3s()), true;
    if (type == "mat3d") return work(openvdb::math::Mat3d()), true;
    if (type == "mat4f") return work(openvdb::math::Mat4s()), true;
    if (type == "mat4d") return work(openvdb::math::Mat4d()), true;
    return false;
}

const char *const type_names[] = {"bool",  "int16", "int32", "int64", "float", "double", "vec3i",
                                  "vec3f", "vec3d", "mat3f", "mat3d", "mat4f", "mat4d"};

// --- points ----------------------------------------------------------------------------------------------------------

struct column {
    std::string name, type, values;
};

template <typename T> std::vector<T> values_of(const column &c, int count)
{
    std::istringstream in(c.values);
    std::vector<T> values;
    for (int i = 0; i < count; i++) values.push_back(take<T>(in));
    return values;
}

const column &find(const std::vector<column> &columns, const char *name)
{
    for (const column &c : columns)
        if (c.name == name) return c;
    throw std::runtime_error(std::string("no column ") + name);
}

void set_strings(vp::PointDataTree &tree, const column &c, int count)
{
    std::istringstream in(c.values);
    std::vector<std::string> values;
    for (int i = 0; i < count; i++) values.push_back(take_string(in));
    vp::appendAttribute<std::string>(tree, c.name);
    auto &descriptor = vp::makeDescriptorUnique(tree)->getMetadata();
    vp::StringMetaInserter inserter(descriptor);
    for (const std::string &value : values)
        if (!value.empty()) inserter.insert(value);
    for (auto leaf = tree.beginLeaf(); leaf; ++leaf) {
        vp::AttributeHandle<int32_t> id(leaf->constAttributeArray("id"));
        vp::StringAttributeWriteHandle handle(leaf->attributeArray(c.name),
                                              leaf->attributeSet().descriptor().getMetadata());
        for (auto i = leaf->beginIndexAll(); i; ++i) handle.set(*i, openvdb::Name(values[id.get(*i)]));
    }
}

void set_group(vp::PointDataTree &tree, const column &c, int count)
{
    std::vector<int32_t> values = values_of<int32_t>(c, count);
    vp::appendGroup(tree, c.name);
    for (auto leaf = tree.beginLeaf(); leaf; ++leaf) {
        vp::AttributeHandle<int32_t> id(leaf->constAttributeArray("id"));
        vp::GroupWriteHandle handle = leaf->groupWriteHandle(c.name);
        for (auto i = leaf->beginIndexAll(); i; ++i) handle.set(*i, values[id.get(*i)] != 0);
    }
}

void set_values(vp::PointDataTree &tree, const column &c, int count)
{
    bool known = with_type(c.type, [&](auto zero) {
        using T = decltype(zero);
        std::vector<T> values = values_of<T>(c, count);
        vp::appendAttribute<T>(tree, c.name);
        for (auto leaf = tree.beginLeaf(); leaf; ++leaf) {
            vp::AttributeHandle<int32_t> id(leaf->constAttributeArray("id"));
            vp::AttributeWriteHandle<T> handle(leaf->attributeArray(c.name));
            for (auto i = leaf->beginIndexAll(); i; ++i) handle.set(*i, values[id.get(*i)]);
        }
    });
    if (!known) throw std::runtime_error("unknown type " + c.type);
}

openvdb::GridBase::Ptr make_points(const std::vector<column> &columns, int count)
{
    std::vector<openvdb::Vec3f> positions = values_of<openvdb::Vec3f>(find(columns, "P"), count);
    std::vector<int32_t> ids = values_of<int32_t>(find(columns, "id"), count);
    auto transform = openvdb::math::Transform::createLinearTransform(1.0);
    const vp::PointAttributeVector<openvdb::Vec3f> source(positions);
    auto order = openvdb::tools::createPointIndexGrid<openvdb::tools::PointIndexGrid>(source, *transform);
    auto grid = vp::createPointDataGrid<vp::NullCodec, vp::PointDataGrid>(*order, source, *transform);
    vp::appendAttribute<int32_t>(grid->tree(), "id");
    vp::populateAttribute<vp::PointDataTree, openvdb::tools::PointIndexTree, vp::PointAttributeVector<int32_t>>(
        grid->tree(), order->tree(), "id", vp::PointAttributeVector<int32_t>(ids));
    // One value for all points of a leaf would be stored once; vdb_ax 10.0.1 ends by an assertion where it reads such
    // an attribute.
    for (auto leaf = grid->tree().beginLeaf(); leaf; ++leaf) leaf->attributeArray("id").expand();
    for (const column &c : columns) {
        if (c.name == "P" || c.name == "id") continue;
        if (c.type == "string") set_strings(grid->tree(), c, count);
        else if (c.type == "group") set_group(grid->tree(), c, count);
        else set_values(grid->tree(), c, count);
    }
    grid->setName("points");
    return grid;
}

using rows = std::map<int32_t, std::string>;  // by id

void dump_positions(const vp::PointDataGrid &grid, rows &out)
{
    for (auto leaf = grid.tree().cbeginLeaf(); leaf; ++leaf) {
        vp::AttributeHandle<int32_t> id(leaf->constAttributeArray("id"));
        vp::AttributeHandle<openvdb::Vec3f> p(leaf->constAttributeArray("P"));
        for (auto i = leaf->beginIndexOn(); i; ++i)
            out[id.get(*i)] = show(
                openvdb::Vec3f(grid.transform().indexToWorld(openvdb::Vec3d(p.get(*i)) + i.getCoord().asVec3d())));
    }
}

void dump_strings(const vp::PointDataGrid &grid, const std::string &name, rows &out)
{
    for (auto leaf = grid.tree().cbeginLeaf(); leaf; ++leaf) {
        vp::AttributeHandle<int32_t> id(leaf->constAttributeArray("id"));
        vp::StringAttributeHandle handle(leaf->constAttributeArray(name),
                                         leaf->attributeSet().descriptor().getMetadata());
        for (auto i = leaf->beginIndexOn(); i; ++i) out[id.get(*i)] = " \"" + handle.get(*i) + "\"";
    }
}

void dump_group(const vp::PointDataGrid &grid, const std::string &name, rows &out)
{
    for (auto leaf = grid.tree().cbeginLeaf(); leaf; ++leaf) {
        vp::AttributeHandle<int32_t> id(leaf->constAttributeArray("id"));
        vp::GroupHandle handle = leaf->groupHandle(name);
        for (auto i = leaf->beginIndexOn(); i; ++i) out[id.get(*i)] = handle.get(*i) ? " 1" : " 0";
    }
}

template <typename T> void dump_values(const vp::PointDataGrid &grid, const std::string &name, rows &out)
{
    for (auto leaf = grid.tree().cbeginLeaf(); leaf; ++leaf) {
        vp::AttributeHandle<int32_t> id(leaf->constAttributeArray("id"));
        vp::AttributeHandle<T> handle(leaf->constAttributeArray(name));
        for (auto i = leaf->beginIndexOn(); i; ++i) out[id.get(*i)] = show(handle.get(*i));
    }
}

void print(const std::string &name, const std::string &type, const rows &values)
{
    std::cout << name << " " << type;
    for (const auto &row : values) std::cout << row.second;
    std::cout << "\n";
}

void dump_attribute(const vp::PointDataGrid &grid, const std::string &name, const openvdb::NamePair &stored)
{
    rows out;
    if (name == "P") return dump_positions(grid, out), print(name, "vec3f", out);
    if (stored.second == "str") return dump_strings(grid, name, out), print(name, "string", out);
    for (const char *type : type_names) {
        bool done = false;
        with_type(type, [&](auto zero) {
            using T = decltype(zero);
            if (stored.first != openvdb::typeNameAsString<T>()) return;
            dump_values<T>(grid, name, out);
            done = true;
        });
        if (done) return print(name, type, out);
    }
    std::cout << "# " << name << " has the type " << stored.first << " " << stored.second
              << ", which is not known here\n";
}

void dump_points(const vp::PointDataGrid &grid)
{
    std::cout << "points " << vp::pointCount(grid.tree()) << "\n";
    auto leaf = grid.tree().cbeginLeaf();
    if (!leaf) return;
    const auto &descriptor = leaf->attributeSet().descriptor();
    std::map<std::string, size_t> names(descriptor.map().begin(), descriptor.map().end());
    for (const auto &entry : names)
        if (!vp::isGroup(*leaf->attributeSet().getConst(entry.second)))
            dump_attribute(grid, entry.first, descriptor.type(entry.second));
    std::map<std::string, size_t> groups(descriptor.groupMap().begin(), descriptor.groupMap().end());
    for (const auto &entry : groups) {
        rows out;
        dump_group(grid, entry.first, out);
        print(entry.first, "group", out);
    }
}

// --- volumes ---------------------------------------------------------------------------------------------------------

template <typename T> struct grid_of {
    using type = openvdb::Grid<typename openvdb::tree::Tree4<T, 5, 4, 3>::Type>;
};

template <typename T> openvdb::GridBase::Ptr make_grid(std::istream &head, std::istream &in)
{
    std::string word;
    double scale = take<double>(head);
    auto grid = grid_of<T>::type::create(take<T>(head));
    grid->setTransform(openvdb::math::Transform::createLinearTransform(scale));
    while (in >> word && (word == "voxel" || word == "tile")) {
        int x, y, z, size;
        in >> x >> y >> z;
        if (word == "voxel") grid->tree().setValueOn(Coord(x, y, z), take<T>(in));
        else in >> size, grid->tree().addTile(size == 8 ? 1 : 2, Coord(x, y, z), take<T>(in), true);
    }
    for (size_t i = word.size(); in && i > 0; i--) in.unget();  // the next grid's line
    return grid;
}

template <typename T> bool dump_grid(const openvdb::GridBase &base, const char *type)
{
    using grid_type = typename grid_of<T>::type;
    if (!base.isType<grid_type>()) return false;
    const auto &grid = static_cast<const grid_type &>(base);
    std::cout << "grid " << grid.getName() << " " << type << " " << real(grid.voxelSize()[0])
              << show(T(grid.background())) << "\n";
    for (auto value = grid.cbeginValueOn(); value; ++value) {
        openvdb::CoordBBox box = value.getBoundingBox();
        std::cout << (value.isVoxelValue() ? "voxel " : "tile ") << box.min()[0] << " " << box.min()[1] << " "
                  << box.min()[2];
        if (!value.isVoxelValue()) std::cout << " " << box.dim()[0];
        std::cout << show(T(value.getValue())) << "\n";
    }
    return true;
}

bool dump_volume(const openvdb::GridBase &grid)
{
    return dump_grid<bool>(grid, "bool") || dump_grid<int32_t>(grid, "int32") || dump_grid<int64_t>(grid, "int64") ||
           dump_grid<float>(grid, "float") || dump_grid<double>(grid, "double") ||
           dump_grid<openvdb::Vec3i>(grid, "vec3i") || dump_grid<openvdb::Vec3f>(grid, "vec3f") ||
           dump_grid<openvdb::Vec3d>(grid, "vec3d");
}

openvdb::GridBase::Ptr make_volume(const std::string &type, std::istream &head, std::istream &in)
{
    if (type == "bool") return make_grid<bool>(head, in);
    if (type == "int32") return make_grid<int32_t>(head, in);
    if (type == "int64") return make_grid<int64_t>(head, in);
    if (type == "float") return make_grid<float>(head, in);
    if (type == "double") return make_grid<double>(head, in);
    if (type == "vec3i") return make_grid<openvdb::Vec3i>(head, in);
    if (type == "vec3f") return make_grid<openvdb::Vec3f>(head, in);
    if (type == "vec3d") return make_grid<openvdb::Vec3d>(head, in);
    throw std::runtime_error("unknown type " + type);
}

// --- program ---------------------------------------------------------------------------------------------------------

openvdb::GridPtrVec read_text(std::istream &in)
{
    openvdb::GridPtrVec grids;
    std::string line;
    while (std::getline(in, line)) {
        std::istringstream head(line);
        std::string word, name, type;
        if (!(head >> word) || word[0] == '#') continue;
        if (word == "points") {
            int count = take<int32_t>(head);
            std::vector<column> columns;
            while (std::getline(in, line) && !line.empty()) {
                std::istringstream row(line);
                column c;
                row >> c.name >> c.type;
                std::getline(row, c.values);
                columns.push_back(c);
            }
            grids.push_back(make_points(columns, count));
        } else if (word == "grid") {
            head >> name >> type;
            grids.push_back(make_volume(type, head, in));
            grids.back()->setName(name);
        } else {
            throw std::runtime_error("found '" + word + "', expected points or grid");
        }
    }
    return grids;
}

int copy_file(const char *from, const char *to)
{
    openvdb::io::File in(from), out(to);
    in.open(/*delayLoad=*/false);
    const auto grids = in.getGrids();
    out.setCompression(openvdb::io::COMPRESS_BLOSC | openvdb::io::COMPRESS_ACTIVE_MASK);
    out.write(*grids, *in.getMetadata());
    out.close();
    return 0;
}

int run(int count, char **words)
{
    openvdb::initialize();
    if (count == 4 && strcmp(words[1], "make") == 0) {
        std::ifstream in(words[2]);
        openvdb::io::File file(words[3]);
        file.write(read_text(in));
        file.close();
        return 0;
    }
    if (count == 4 && strcmp(words[1], "copy") == 0) return copy_file(words[2], words[3]);
    if (count != 3 || strcmp(words[1], "dump") != 0)
        return fprintf(stderr, "usage: ax_data make TEXT FILE.vdb | dump FILE.vdb | copy FILE.vdb FILE.vdb\n"), 2;
    openvdb::io::File file(words[2]);
    file.open();
    auto grids = file.getGrids();
    std::sort(grids->begin(), grids->end(), [](const auto &a, const auto &b) { return a->getName() < b->getName(); });
    for (const auto &grid : *grids) {
        if (grid->isType<vp::PointDataGrid>()) dump_points(static_cast<const vp::PointDataGrid &>(*grid));
        else if (!dump_volume(*grid))
            std::cout << "# " << grid->getName() << " has the type " << grid->type() << ", which is not known here\n";
    }
    return 0;
}

}  // namespace

int main(int count, char **words)
{
    try {
        return run(count, words);
    } catch (const std::exception &error) {
        fprintf(stderr, "ax_data: %s\n", error.what());
        return 1;
    }
}
