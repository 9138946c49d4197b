// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The features of a solid are what touches others first: balls that lie in it and touch its surface from inside, of
// radius zero at corners and edges. A ball against the signed distance of another solid is a contact, whatever the
// other's shape (solid/contacts.h). Few balls are exact where a shape is made of balls (sphere, capsule, rounded
// corners of a box); flat and free-form surfaces are sampled.
#pragma once
#include "base/status.h"
#include "solid/shape.h"

typedef struct rh_feature {
    rh_dvec3 at;     // m: in the solid's own space
    double radius;   // m
    rh_dvec3 inner;  // m: a place a little inside the solid. Where a corner lies on an edge of another solid, this
                     // place tells which of that solid's faces the corner is on
    bool rim;        // of a circle, whose lowest points rh_features_supports knows: for what lies flat on it
} rh_feature;

typedef struct rh_features {
    rh_feature *items;  // owned; corners first
    int count;
    rh_dvec3 center;  // m: of a ball around the solid
    double radius;    // m: of that ball
    double depth;     // m: half the smallest extent
} rh_features;

enum { RH_FEATURES_MOST = 400, RH_SUPPORTS_MOST = 2 };

// `mesh`: the triangles of a shape that is a mesh. A shape without end has none (count 0), nor a mesh in two
// dimensions.
rh_code rh_features_create(const rh_shape *shape, const rh_mesh *mesh, rh_features *out, rh_status *status);
void rh_features_free(rh_features *features);
// The balls of a cylinder or torus that lie farthest along a direction, exactly, so that it rolls on a circle and not
// on a polygon: rh_features_supports returns how many. rh_features_lies_flat: whether it lies on a rim in that
// direction.
bool rh_features_lies_flat(const rh_shape *shape, rh_dvec3 direction);  // on a rim
int rh_features_supports(const rh_shape *shape, rh_dvec3 direction, rh_feature out[RH_SUPPORTS_MOST]);
