// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The parameters of surfacing. Defaults are those of the sources (docs/sources.md) where they say one;
// docs/decisions.md has the others.
#include "surface/surfacing.h"

static const char *const modes[] = {"ellipsoid", "sphere", "averaged", "solenthaler", "density", "blocks", NULL};
static const char *const kernels[] = {"bounded", "first_order", "literal", "exact", NULL};
static const char *const searches[] = {"own", "largest", NULL};
static const char *const formats[] = {"ply", "obj", "vtp", NULL};
static const char *const filters[] = {"mean",  "gaussian", "median", "curvature", "laplacian",   "fillet", "dilate",
                                      "erode", "open",     "close",  "fill",      "renormalise", NULL};

#define AT(field) offsetof(rh_filter_params, field)
static const rh_param filter_rows[] = {
    {"kind", RH_PARAM_CHOICE, AT(kind), "", "mean", .choices = filters,
     .help = "mean, gaussian, median, curvature, laplacian, fillet: smoothing; dilate, erode, open, close: by "
             "distance; fill: smoothing that only adds; renormalise"},
    {"iterations", RH_PARAM_INT, AT(iterations), "", "1", 1, 1000, .help = "how often"},
    {"width", RH_PARAM_INT, AT(width), "voxels", "1", 1, 100, .help = "half width of mean, gaussian, median and fill"},
    {"distance", RH_PARAM_FLOAT, AT(distance), "m", "0", 0, 1e4,
     .help = "of dilate, erode, open and close; 0: one voxel"},
    {"mask", RH_PARAM_TEXT, AT(mask), "",
     .help = "attribute carried to the surface that says how much of the filter is applied"},
    {"mask_min", RH_PARAM_FLOAT, AT(mask_min), "", "0", .help = "value of the mask for nothing of it"},
    {"mask_max", RH_PARAM_FLOAT, AT(mask_max), "", "1",
     .help = "value of the mask for all of it; below mask_min to turn the mask round"},
};
#undef AT
static const rh_param_table filter_table = {
    "filter",
    "One pass over the level set. Filters are applied in the order they are listed.",
    filter_rows,
    RH_PARAM_COUNT(filter_rows),
    sizeof(rh_filter_params),
    NULL};

#define AT(field) offsetof(rh_surfacing_params, field)
static const rh_param rows[] = {
    {"mode", RH_PARAM_CHOICE, AT(mode), "", "ellipsoid", .choices = modes,
     .help = "ellipsoid: smooth liquid, thin sheets and droplets; blocks: solids on particles that carry their "
             "deformation, whose edges stay sharp; sphere, averaged, solenthaler, density: simpler methods to compare "
             "with"},
    {"voxel", RH_PARAM_FLOAT, AT(voxel), "m", "0", 0, 1e4,
     .help = "size of a voxel; 0: 0.8 particle radii, about half the particle spacing"},
    {"radius", RH_PARAM_FLOAT, AT(radius), "m", "0", 0, 1e4,
     .help = "of all particles; 0: their attribute radius (or pscale)"},
    {"radius_scale", RH_PARAM_FLOAT, AT(radius_scale), "", "1", 0.01, 100, .help = "makes all radii larger or smaller"},
    {"half_band", RH_PARAM_INT, AT(half_band), "voxels", "3", 2, 8,
     .help = "how far from the surface distances are stored"},
    {"attributes", RH_PARAM_TEXT, AT(attributes), "", "",
     .help = "what to carry to the surface besides velocity and rest: names of particle attributes or groups, "
             "separated by blanks"},
    {"expression", RH_PARAM_CODE, AT(expression), "",
     .help = "a program that runs on the particles before the surface is made: masks, colours, radii; see "
             "docs/expressions.md"},
    {"group", RH_PARAM_TEXT, AT(group), "", "",
     .help = "point group, or integer attribute: points outside of it, or where it is 0, stay spheres"},
    {"skip_deep", RH_PARAM_BOOL, AT(skip_deep), "", "true",
     .help = "fill the inside of the liquid without looking at its particles one by one"},
    {"search_radius", RH_PARAM_FLOAT, AT(search_radius), "radii", "5", 2, 20,
     .help = "how far around a particle neighbours are looked for (at most four times as far as around a mean one); 5 "
             "is about three particle spacings"},
    {"search", RH_PARAM_CHOICE, AT(search), "", "own", .choices = searches,
     .help = "whose radius search_radius multiplies when particles differ"},
    {"anisotropy", RH_PARAM_FLOAT, AT(anisotropy), "", "0.25", 0.01, 1,
     .help = "least ratio between the variances of a neighbourhood: smaller makes flatter ellipsoids, 1 spheres"},
    {"droplet_neighbours", RH_PARAM_INT, AT(droplet_neighbours), "", "20", 0, 1000,
     .help = "a particle with so many neighbours or fewer, itself included, is a droplet"},
    {"droplet_scale", RH_PARAM_FLOAT, AT(droplet_scale), "radii", "0.5", 0.01, 4, .help = "radius of a droplet"},
    {"droplet_blend", RH_PARAM_FLOAT, AT(droplet_blend), "", "0.5", 0, 10,
     .help = "passage from droplet to ellipsoid, over so many times droplet_neighbours; 0: a hard switch"},
    {"smoothing", RH_PARAM_FLOAT, AT(smoothing), "", "1", 0, 1,
     .help = "how far centres move to the mean of their neighbours"},
    {"recentre", RH_PARAM_BOOL, AT(recentre), "", "true",
     .help = "keep the surface in place: smoothing alone draws it in by about a particle spacing"},
    {"global_blend", RH_PARAM_FLOAT, AT(global_blend), "", "0", 0, 1,
     .help = "normalisation of the ellipsoids: 0 keeps the volume of each, 1 that of their mean"},
    {"stretch", RH_PARAM_FLOAT, AT(stretch), "1/m^2", "0", 0, 1e12,
     .help = "one normalisation constant for all, to compare with older methods; 0: computed"},
    {"literal", RH_PARAM_BOOL, AT(literal), "", "false",
     .help = "normalise with the variances before they are clamped; sheets shrink"},
    {"max_per_cell", RH_PARAM_INT, AT(max_per_cell), "", "0", 0, 1000000,
     .help = "neighbours looked at in each cell of half a search radius; 0: all"},
    {"kernel", RH_PARAM_CHOICE, AT(kernel), "", "bounded", .choices = kernels,
     .help = "distance to an ellipsoid away from its surface; all agree on the surface"},
    {"close", RH_PARAM_FLOAT, AT(close), "radii", "1.2", 0, 4,
     .help = "gaps in which a ball of this radius does not fit are closed; modes ellipsoid and blocks"},
    {"kernel_radius", RH_PARAM_FLOAT, AT(kernel_radius), "radii", "3.2", 1, 20,
     .help = "of averaged, solenthaler and density; 3.2 is about two particle spacings"},
    {"low", RH_PARAM_FLOAT, AT(low), "", "0.4", 0, 100, .help = "solenthaler: stretch below which nothing is cut away"},
    {"high", RH_PARAM_FLOAT, AT(high), "", "3.5", 0, 100, .help = "solenthaler: stretch from which on all is cut away"},
    {"isovalue", RH_PARAM_FLOAT, AT(isovalue), "", "0.5", 1e-6, 1e3,
     .help = "density: the surface is where the sum of kernels has this share of its value inside"},
    {"diagnostics", RH_PARAM_BOOL, AT(diagnostics), "", "false",
     .help = "write the particles with their ellipsoids: k_s, neighbours, stretch, rotation, centre, ellipsoid"},
    {"filters", RH_PARAM_LIST, AT(filters), "", .table = &filter_table, .help = "passes over the level set, in order"},
    {"vdb", RH_PARAM_BOOL, AT(vdb), "", "true", .help = "write the level set as OpenVDB"},
    {"mesh", RH_PARAM_BOOL, AT(mesh), "", "false", .help = "write a mesh"},
    {"mesh_format", RH_PARAM_CHOICE, AT(mesh_format), "", "ply", .choices = formats,
     .help = "ply and vtp (for ParaView) carry velocity and attributes, obj does not"},
    {"adaptivity", RH_PARAM_FLOAT, AT(adaptivity), "", "0", 0, 1,
     .help = "larger polygons where the surface is flat; 0: all of one size"},
    {"while_running", RH_PARAM_BOOL, AT(while_running), "", "false",
     .help = "make the surface of each frame during the run"},
};
#undef AT

static rh_code check(const void *object, const char **field, rh_status *status)
{
    const rh_surfacing_params *p = object;
    if (p->voxel > 0 && p->voxel < 1e-6) {
        *field = "voxel";
        return rh_fail(status, RH_USER, "must be 0 or at least 1e-6 m, found %g", p->voxel);
    }
    if (p->low < p->high) return RH_OK;
    *field = "high";
    return rh_fail(status, RH_USER, "must be above low: low is %g, high is %g", p->low, p->high);
}

const rh_param_table rh_surfacing_table = {"surface",
                                           "How the surface of the material is made from its particles, for `rheo "
                                           "surface` and during a run. Does not change the simulation.",
                                           rows,
                                           RH_PARAM_COUNT(rows),
                                           sizeof(rh_surfacing_params),
                                           check};
