// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// .vdb files as other programs write them, made with OpenVDB itself. Declared in foreign_vdb.h.
#pragma GCC visibility push(default)
#include <openvdb/openvdb.h>
#include <openvdb/points/PointConversion.h>
#include <openvdb/points/PointGroup.h>
#include <openvdb/tools/LevelSetSphere.h>
#pragma GCC visibility pop

extern "C" {
#include "unit/foreign_vdb.h"
}

namespace {

namespace vp = openvdb::points;
using openvdb::Vec3s;

void write(const char *path, const openvdb::GridPtrVec &grids)
{
    openvdb::io::File file(path);
    file.write(grids);
    file.close();
}

template <typename Value, typename Codec>
void add(vp::PointDataTree &tree, const openvdb::tools::PointIndexTree &order, const char *name,
         const std::vector<Value> &values)
{
    vp::appendAttribute<Value, Codec>(tree, name);
    vp::populateAttribute<vp::PointDataTree, openvdb::tools::PointIndexTree, vp::PointAttributeVector<Value>>(
        tree, order, name, vp::PointAttributeVector<Value>(values));
}

}  // namespace

extern "C" void foreign_points(const char *path, int count)
{
    openvdb::initialize();
    std::vector<Vec3s> positions, velocities;
    std::vector<float> sizes;
    for (int i = 0; i < count; i++) {
        float p[3], v[3];
        foreign_point(i, p, v);
        positions.push_back(Vec3s(p)), velocities.push_back(Vec3s(v)), sizes.push_back(foreign_size(i));
    }
    const vp::PointAttributeVector<Vec3s> source(positions);
    auto transform = openvdb::math::Transform::createLinearTransform(0.1);
    auto order = openvdb::tools::createPointIndexGrid<openvdb::tools::PointIndexGrid>(source, *transform);
    auto grid = vp::createPointDataGrid<vp::FixedPointCodec</*one byte=*/false, vp::PositionRange>, vp::PointDataGrid>(
        *order, source, *transform);
    add<Vec3s, vp::TruncateCodec>(grid->tree(), order->tree(), "v", velocities);
    add<float, vp::TruncateCodec>(grid->tree(), order->tree(), "pscale", sizes);
    std::vector<Vec3s> directions(velocities);
    for (Vec3s &d : directions) d.normalize();
    add<Vec3s, vp::UnitVecCodec>(grid->tree(), order->tree(), "N", directions);
    std::vector<short> fast;
    for (float size : sizes) fast.push_back(size > 0.02f);
    vp::appendGroup(grid->tree(), "v");
    vp::appendGroup(grid->tree(), "fast");
    vp::setGroup(grid->tree(), "v", true);
    vp::setGroup(grid->tree(), order->tree(), fast, "fast");
    grid->setName("fluid");
    write(path, {grid});
}

extern "C" void foreign_surface(const char *path)
{
    openvdb::initialize();
    auto ball = openvdb::tools::createLevelSetSphere<openvdb::FloatGrid>(1.0f, openvdb::Vec3f(0.3f, 0, 0), 0.1f, 4.0f);
    ball->setName("liquid");
    ball->setSaveFloatAsHalf(true);
    auto colour = openvdb::Vec3SGrid::create(Vec3s(1, 2, 3));  // the background counts where nothing is stored
    colour->setTransform(ball->transform().copy());
    colour->tree().addTile(2, openvdb::Coord(0), Vec3s(4, 5, 6), true);
    colour->setName("Cd");
    auto smoke = openvdb::FloatGrid::create(0);
    smoke->setTransform(openvdb::math::Transform::createLinearTransform(0.25));
    smoke->setName("density");
    smoke->setGridClass(openvdb::GRID_FOG_VOLUME);
    auto mask = openvdb::BoolGrid::create(false);
    mask->setTransform(ball->transform().copy());
    mask->setName("mask");
    write(path, {smoke, mask, colour, ball});
}

extern "C" void foreign_stretched(const char *path)
{
    openvdb::initialize();
    auto ball = openvdb::tools::createLevelSetSphere<openvdb::FloatGrid>(1.0f, openvdb::Vec3f(0, 0, 0), 0.1f, 3.0f);
    ball->transform().postScale(openvdb::Vec3d(1, 2, 1));
    write(path, {ball});
}
