// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Build: top-down, split by the surface-area heuristic over 16 bins along the longest axis of the centroids (I. Wald,
// "On fast construction of SAH-based bounding volume hierarchies", 2007).
//
// Nearest point on a triangle: C. Ericson, "Real-Time Collision Detection", 2005, section 5.1.5.
//
// Winding number: G. Barill, N. Dickson, R. Schmidt, D. I. W. Levin, A. Jacobson, "Fast winding numbers for soups and
// clouds", ACM TOG 37(4), 2018. A node farther away than `reach` times its radius is replaced by the first two terms of
// its expansion about its centroid p (r = p - q, N = sum of area vectors, C = sum of (centroid - p) times area vector):
//   4 pi w = N.r / |r|^3 + tr(C) / |r|^3 - 3 r.C r / |r|^5
// Leaves nearby are summed exactly by solid angles: A. van Oosterom, J. Strackee, "The solid angle of a plane
// triangle", IEEE Trans. Biomed. Eng. 30(2), 1983.
#include "solid/bvh.h"

#include <string.h>
#include "base/memory.h"

enum {
    BINS = 16,
    LEAF = 4,            // triangles in a leaf
    DEPTH_OF_BINS = 40,  // below, halves by count: bounds the depth for any input
    STACK = 128,         // 40 + 30 halvings of at most 2^30 triangles
};

static const double reach = 2;  // the paper's beta
static const double pi = 3.14159265358979323846;

typedef struct rh_bvh_expansion {
    rh_dvec3 center, normal;              // centroid by area; sum of area vectors
    double radius2;                       // of a ball around center that holds the node
    double area, xx, yy, zz, xy, yz, zx;  // C, made symmetric
} rh_bvh_expansion;

// --- build -----------------------------------------------------------------------------------------------------------

typedef struct bounds {
    float low[3], high[3];
} bounds;

static bounds empty(void) { return (bounds){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}}; }

static void grow(bounds *b, const float *low, const float *high)
{
    for (int k = 0; k < 3; k++) {
        if (low[k] < b->low[k]) b->low[k] = low[k];
        if (high[k] > b->high[k]) b->high[k] = high[k];
    }
}

static void grow_triangle(bounds *b, const rh_bvh_triangle *t)
{
    for (int c = 0; c < 3; c++) {
        const float p[3] = {t->corner[c].x, t->corner[c].y, t->corner[c].z};
        grow(b, p, p);
    }
}

// Half of it, in double: a product of floats may overflow.
static double surface(const bounds *b)
{
    double x = (double)b->high[0] - b->low[0], y = (double)b->high[1] - b->low[1], z = (double)b->high[2] - b->low[2];
    return x >= 0 ? x * y + y * z + z * x : 0;
}

static float axis_of(rh_vec3 v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

// A third is taken first so that the sum of large coordinates stays finite.
static float centroid(const rh_bvh_triangle *t, int axis)
{
    const float third = 1.0f / 3;
    return axis_of(t->corner[0], axis) * third + axis_of(t->corner[1], axis) * third +
           axis_of(t->corner[2], axis) * third;
}

typedef struct cut {
    int axis;
    double low, scale;
    int bin;
} cut;  // left = bins below `bin`

static int bin_of(const rh_bvh_triangle *t, const cut *c)
{
    int bin = (int)((centroid(t, c->axis) - c->low) * c->scale);
    return bin < 0 ? 0 : bin >= BINS ? BINS - 1 : bin;
}

// The cheapest place between bins; bin = 0 when all triangles fall on one side.
static void choose_bin(const rh_bvh_triangle *triangles, int32_t count, cut *c)
{
    bounds box[BINS];
    int32_t held[BINS] = {0};
    for (int i = 0; i < BINS; i++) box[i] = empty();
    for (int32_t i = 0; i < count; i++) {
        int bin = bin_of(&triangles[i], c);
        held[bin]++;
        grow_triangle(&box[bin], &triangles[i]);
    }
    double right_cost[BINS];
    bounds right = empty();
    int32_t right_count = 0;
    for (int i = BINS - 1; i > 0; i--) {
        grow(&right, box[i].low, box[i].high);
        right_count += held[i];
        right_cost[i] = surface(&right) * right_count;
    }
    bounds left = empty();
    int32_t left_count = 0;
    double best = INFINITY;
    c->bin = 0;
    for (int i = 1; i < BINS; i++) {
        grow(&left, box[i - 1].low, box[i - 1].high);
        left_count += held[i - 1];
        double cost = surface(&left) * left_count + right_cost[i];
        if (left_count == 0 || left_count == count || cost >= best) continue;
        best = cost;
        c->bin = i;
    }
}

// Moves the left part to the front; returns its length.
static int32_t partition(rh_bvh_triangle *triangles, int32_t count, const cut *c)
{
    int32_t left = 0;
    for (int32_t i = 0; i < count; i++) {
        if (bin_of(&triangles[i], c) >= c->bin) continue;
        rh_bvh_triangle t = triangles[left];
        triangles[left++] = triangles[i];
        triangles[i] = t;
    }
    return left;
}

static int32_t split(rh_bvh_triangle *triangles, int32_t count, int depth)
{
    float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int32_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            float x = centroid(&triangles[i], k);
            low[k] = fminf(low[k], x);
            high[k] = fmaxf(high[k], x);
        }
    cut c = {.low = low[0]};
    double widest = (double)high[0] - low[0];
    for (int k = 1; k < 3; k++)
        if ((double)high[k] - low[k] > widest) {
            widest = (double)high[k] - low[k];
            c.axis = k;
            c.low = low[k];
        }
    c.scale = BINS / widest;
    if (depth >= DEPTH_OF_BINS || !(widest > 0) || !isfinite(c.scale)) return count / 2;
    choose_bin(triangles, count, &c);
    return c.bin > 0 ? partition(triangles, count, &c) : count / 2;
}

static rh_dvec3 area_vector(const rh_bvh_triangle *t, rh_dvec3 *middle)
{
    rh_dvec3 a = rh_d3_from(t->corner[0]), b = rh_d3_from(t->corner[1]), c = rh_d3_from(t->corner[2]);
    *middle = rh_d3_scale(rh_d3_add(a, rh_d3_add(b, c)), 1.0 / 3);
    return rh_d3_scale(rh_d3_cross(rh_d3_sub(b, a), rh_d3_sub(c, a)), 0.5);
}

// The normal is shortened a little and the planes moved apart, so that rounding never makes the slab too thin.
static void find_slab(rh_bvh_node *node, const rh_bvh_triangle *triangles, int32_t count)
{
    rh_dvec3 sum = {0}, middle;
    for (int32_t i = 0; i < count; i++) sum = rh_d3_add(sum, area_vector(&triangles[i], &middle));
    rh_vec3 normal = rh_v3_from(rh_d3_scale(rh_d3_unit(sum), 1 - 1e-6));
    rh_dvec3 n = rh_d3_from(normal);
    double bottom = INFINITY, top = -INFINITY;
    for (int32_t i = 0; i < count; i++)
        for (int c = 0; c < 3; c++) {
            double height = rh_d3_dot(rh_d3_from(triangles[i].corner[c]), n);
            bottom = height < bottom ? height : bottom;
            top = height > top ? height : top;
        }
    memcpy(node->normal, &normal, sizeof node->normal);
    node->bottom = nextafterf((float)bottom, -INFINITY);
    node->top = nextafterf((float)top, INFINITY);
}

static void build_node(rh_bvh *bvh, int32_t index, int32_t first, int32_t count, int depth)
{
    bounds box = empty();
    for (int32_t i = first; i < first + count; i++) grow_triangle(&box, &bvh->triangles[i]);
    rh_bvh_node *node = &bvh->nodes[index];
    memcpy(node->low, box.low, sizeof node->low);
    memcpy(node->high, box.high, sizeof node->high);
    find_slab(node, bvh->triangles + first, count);
    if (count <= LEAF) {
        node->first = first;
        node->count = count;
        return;
    }
    int32_t left = split(bvh->triangles + first, count, depth);
    node->first = bvh->node_count;
    node->count = 0;
    bvh->node_count += 2;
    build_node(bvh, node->first, first, left, depth + 1);
    build_node(bvh, node->first + 1, first + left, count - left, depth + 1);
}

// --- what a node looks like from afar --------------------------------------------------------------------------------

static void add_outer(rh_bvh_expansion *f, rh_dvec3 a, rh_dvec3 n)
{
    f->xx += a.x * n.x;
    f->yy += a.y * n.y;
    f->zz += a.z * n.z;
    f->xy += 0.5 * (a.x * n.y + a.y * n.x);
    f->yz += 0.5 * (a.y * n.z + a.z * n.y);
    f->zx += 0.5 * (a.z * n.x + a.x * n.z);
}

static rh_dvec3 box_middle(const rh_bvh_node *node)
{
    return rh_d3(0.5 * ((double)node->low[0] + node->high[0]), 0.5 * ((double)node->low[1] + node->high[1]),
                 0.5 * ((double)node->low[2] + node->high[2]));
}

static void expand_leaf(const rh_bvh *bvh, const rh_bvh_node *node, rh_bvh_expansion *f)
{
    rh_dvec3 middle, sum = {0};
    for (int32_t i = node->first; i < node->first + node->count; i++) {
        rh_dvec3 n = area_vector(&bvh->triangles[i], &middle);
        double area = rh_d3_length(n);
        f->area += area;
        f->normal = rh_d3_add(f->normal, n);
        sum = rh_d3_add(sum, rh_d3_scale(middle, area));
    }
    f->center = f->area > 0 ? rh_d3_scale(sum, 1 / f->area) : box_middle(node);
    for (int32_t i = node->first; i < node->first + node->count; i++) {
        rh_dvec3 n = area_vector(&bvh->triangles[i], &middle);
        add_outer(f, rh_d3_sub(middle, f->center), n);
    }
}

static void expand_inner(const rh_bvh *bvh, const rh_bvh_node *node, rh_bvh_expansion *f)
{
    const rh_bvh_expansion *a = &bvh->expansion[node->first], *b = a + 1;
    f->area = a->area + b->area;
    f->normal = rh_d3_add(a->normal, b->normal);
    rh_dvec3 sum = rh_d3_add(rh_d3_scale(a->center, a->area), rh_d3_scale(b->center, b->area));
    f->center = f->area > 0 ? rh_d3_scale(sum, 1 / f->area) : box_middle(node);
    for (const rh_bvh_expansion *child = a; child <= b; child++) {
        f->xx += child->xx, f->yy += child->yy, f->zz += child->zz;
        f->xy += child->xy, f->yz += child->yz, f->zx += child->zx;
        add_outer(f, rh_d3_sub(child->center, f->center), child->normal);
    }
}

static void expand_all(rh_bvh *bvh)
{
    for (int32_t i = bvh->node_count - 1; i >= 0; i--) {  // children before parents
        const rh_bvh_node *node = &bvh->nodes[i];
        rh_bvh_expansion *f = &bvh->expansion[i];
        *f = (rh_bvh_expansion){0};
        if (node->count > 0) expand_leaf(bvh, node, f);
        else expand_inner(bvh, node, f);
        double x = fmax(node->high[0] - f->center.x, f->center.x - node->low[0]);
        double y = fmax(node->high[1] - f->center.y, f->center.y - node->low[1]);
        double z = fmax(node->high[2] - f->center.z, f->center.z - node->low[2]);
        f->radius2 = x * x + y * y + z * z;
    }
}

rh_code rh_bvh_build(rh_bvh_triangle *triangles, int64_t count, rh_bvh *bvh, rh_status *status)
{
    RH_ASSERT(count > 0 && count <= RH_BVH_MAX_TRIANGLES);
    *bvh = (rh_bvh){.triangles = triangles, .room = (int32_t)count};
    // Every inner node has two children and every leaf a triangle, so there are fewer than 2 count nodes.
    bvh->nodes = rh_alloc((size_t)count * 2 * sizeof *bvh->nodes, "bvh.nodes", status);
    bvh->expansion = rh_alloc((size_t)count * 2 * sizeof *bvh->expansion, "bvh.expansion", status);
    if (!bvh->nodes || !bvh->expansion) {
        rh_bvh_free(bvh);
        return RH_MEMORY;
    }
    rh_bvh_rebuild(bvh, count);
    return RH_OK;
}

void rh_bvh_rebuild(rh_bvh *bvh, int64_t count)
{
    RH_ASSERT(count > 0 && count <= bvh->room);
    bvh->triangle_count = (int32_t)count;
    bvh->node_count = 1;
    build_node(bvh, 0, 0, (int32_t)count, 0);
    expand_all(bvh);
}

void rh_bvh_free(rh_bvh *bvh)
{
    rh_free(bvh->triangles);
    rh_free(bvh->nodes);
    rh_free(bvh->expansion);
    *bvh = (rh_bvh){0};
}

int64_t rh_bvh_bytes(const rh_bvh *bvh)
{
    return bvh->room * (int64_t)(sizeof *bvh->triangles + 2 * (sizeof *bvh->nodes + sizeof *bvh->expansion));
}

// --- nearest point ---------------------------------------------------------------------------------------------------

static double square(rh_dvec3 a) { return rh_d3_dot(a, a); }

// Square of the distance to the point `part` / `whole` of the way along ab; seen from very far both may have been
// rounded away.
static double to_segment2(rh_dvec3 p, rh_dvec3 a, rh_dvec3 ab, double part, double whole)
{
    return square(rh_d3_sub(p, rh_d3_add(a, rh_d3_scale(ab, whole > 0 ? part / whole : 0))));
}

static double to_triangle2(const rh_bvh_triangle *t, rh_dvec3 p)
{
    rh_dvec3 a = rh_d3_from(t->corner[0]), b = rh_d3_from(t->corner[1]), c = rh_d3_from(t->corner[2]);
    rh_dvec3 ab = rh_d3_sub(b, a), ac = rh_d3_sub(c, a);
    rh_dvec3 ap = rh_d3_sub(p, a);
    double d1 = rh_d3_dot(ab, ap), d2 = rh_d3_dot(ac, ap);
    if (d1 <= 0 && d2 <= 0) return square(ap);
    rh_dvec3 bp = rh_d3_sub(p, b);
    double d3 = rh_d3_dot(ab, bp), d4 = rh_d3_dot(ac, bp);
    if (d3 >= 0 && d4 <= d3) return square(bp);
    double vc = d1 * d4 - d3 * d2;
    if (vc <= 0 && d1 >= 0 && d3 <= 0) return to_segment2(p, a, ab, d1, d1 - d3);
    rh_dvec3 cp = rh_d3_sub(p, c);
    double d5 = rh_d3_dot(ab, cp), d6 = rh_d3_dot(ac, cp);
    if (d6 >= 0 && d5 <= d6) return square(cp);
    double vb = d5 * d2 - d1 * d6;
    if (vb <= 0 && d2 >= 0 && d6 <= 0) return to_segment2(p, a, ac, d2, d2 - d6);
    double va = d3 * d6 - d5 * d4;
    if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0)
        return to_segment2(p, b, rh_d3_sub(c, b), d4 - d3, (d4 - d3) + (d5 - d6));
    rh_dvec3 n = rh_d3_cross(ab, ac);
    double height = rh_d3_dot(ap, n);
    return height * height / square(n);
}

// The case of to_triangle2 that the point is in tells which corners have a part in it.
void rh_bvh_weights(const rh_bvh_triangle *t, rh_dvec3 p, double weight[3])
{
    rh_dvec3 a = rh_d3_from(t->corner[0]), b = rh_d3_from(t->corner[1]), c = rh_d3_from(t->corner[2]);
    rh_dvec3 ab = rh_d3_sub(b, a), ac = rh_d3_sub(c, a), n = rh_d3_cross(ab, ac);
    double area = square(n), v = 0, w = 0;
    if (area > 0) {
        v = rh_d3_dot(n, rh_d3_cross(rh_d3_sub(p, a), ac)) / area;
        w = rh_d3_dot(n, rh_d3_cross(ab, rh_d3_sub(p, a))) / area;
    }
    weight[0] = 1 - v - w, weight[1] = v, weight[2] = w;
    if (area > 0 && v >= 0 && w >= 0 && v + w <= 1) return;
    // Outside: the nearest of the three edges.
    const rh_dvec3 corner[3] = {a, b, c};
    double nearest = INFINITY;
    for (int k = 0; k < 3; k++) {
        int next = (k + 1) % 3;
        rh_dvec3 edge = rh_d3_sub(corner[next], corner[k]);
        double length2 = square(edge), s = length2 > 0 ? rh_d3_dot(edge, rh_d3_sub(p, corner[k])) / length2 : 0;
        s = s < 0 ? 0 : s > 1 ? 1 : s;
        double d = square(rh_d3_sub(p, rh_d3_add(corner[k], rh_d3_scale(edge, s))));
        if (d >= nearest) continue;
        nearest = d;
        weight[0] = weight[1] = weight[2] = 0;
        weight[k] = 1 - s;
        weight[next] = s;
    }
}

// How far p lies outside of [low, high]. Without fmax, which must treat NaN as the standard says and so becomes a call.
static double beyond(float low, float high, double p)
{
    double below = low - p, above = p - high, most = below > above ? below : above;
    return most > 0 ? most : 0;
}

// Never more than the square of the distance to anything in the node: the better of box and slab.
static double to_node2(const rh_bvh_node *node, rh_dvec3 p)
{
    double x = beyond(node->low[0], node->high[0], p.x);
    double y = beyond(node->low[1], node->high[1], p.y);
    double z = beyond(node->low[2], node->high[2], p.z);
    double height = node->normal[0] * p.x + node->normal[1] * p.y + node->normal[2] * p.z;
    double box2 = x * x + y * y + z * z, slab = beyond(node->bottom, node->top, height), slab2 = slab * slab;
    return box2 > slab2 ? box2 : slab2;
}

static void try_leaf(const rh_bvh *bvh, const rh_bvh_node *leaf, rh_dvec3 p, double *best, int32_t *nearest)
{
    for (int32_t i = leaf->first; i < leaf->first + leaf->count; i++) {
        double d = to_triangle2(&bvh->triangles[i], p);
        if (d >= *best) continue;
        *best = d;
        *nearest = i;
    }
}

// Boxes at least this far (squared) cannot matter, given the best distance so far.
static double cutoff(double best, double tolerance)
{
    double distance = sqrt(best);
    return distance > 16 * tolerance ? (distance - tolerance) * (distance - tolerance) : best;
}

double rh_bvh_distance2(const rh_bvh *bvh, rh_dvec3 point, double tolerance, int32_t *hint)
{
    struct {
        int32_t node;
        double distance2;
    } stack[STACK];
    int32_t nearest = *hint >= 0 ? *hint : 0;
    double best = to_triangle2(&bvh->triangles[nearest], point), limit = cutoff(best, tolerance);
    int depth = 0;
    stack[depth].node = 0;
    stack[depth++].distance2 = 0;
    while (depth > 0) {
        depth--;
        if (stack[depth].distance2 >= limit) continue;
        const rh_bvh_node *node = &bvh->nodes[stack[depth].node];
        if (node->count > 0) {
            try_leaf(bvh, node, point, &best, &nearest);
            limit = cutoff(best, tolerance);
            continue;
        }
        int32_t near = node->first, far = near + 1;
        double near2 = to_node2(&bvh->nodes[near], point), far2 = to_node2(&bvh->nodes[far], point);
        if (far2 < near2) {
            double swap = near2;
            near2 = far2;
            far2 = swap;
            near = far;
            far = node->first;
        }
        RH_ASSERT(depth + 2 <= STACK);
        if (far2 < limit) {
            stack[depth].node = far;
            stack[depth++].distance2 = far2;
        }
        stack[depth].node = near;
        stack[depth++].distance2 = near2;
    }
    *hint = nearest;
    return best;
}

// --- winding number --------------------------------------------------------------------------------------------------

// A sum of angles as a complex number of that argument and a count of full turns: the sum of many solid angles then
// takes one atan2, which was half of the time of a winding number.
typedef struct turns {
    double re, im;
    int whole;
} turns;

// Adds half of the triangle's solid angle, which lies between -pi and pi. Two arguments on one side of the real axis
// whose product is on the other have gone through half a turn.
static void add_solid_angle(const rh_bvh_triangle *t, rh_dvec3 q, turns *sum)
{
    rh_dvec3 a = rh_d3_sub(rh_d3_from(t->corner[0]), q), b = rh_d3_sub(rh_d3_from(t->corner[1]), q);
    rh_dvec3 c = rh_d3_sub(rh_d3_from(t->corner[2]), q);
    double la = rh_d3_length(a), lb = rh_d3_length(b), lc = rh_d3_length(c);
    double above = rh_d3_dot(a, rh_d3_cross(b, c));
    double below = la * lb * lc + rh_d3_dot(a, b) * lc + rh_d3_dot(b, c) * la + rh_d3_dot(c, a) * lb;
    double size = fabs(above) + fabs(below);
    if (!(size > 0)) return;  // on a corner, or on an edge seen from its end
    double re = (sum->re * below - sum->im * above) / size, im = (sum->re * above + sum->im * below) / size;
    bool was_above = sum->im >= 0, adds = above >= 0, is_above = im >= 0;
    bool back = im == 0 && re > 0 && below < 0;  // pi and pi
    if (was_above == adds && (is_above != adds || back)) sum->whole += adds ? 1 : -1;
    double length = fabs(re) + fabs(im);
    sum->re = re / length, sum->im = im / length + 0.0;  // atan2 tells -0 from 0
}

static double angle_of(const turns *sum) { return atan2(sum->im, sum->re) + 2 * pi * sum->whole; }

static double winding_from_expansion(const rh_bvh_expansion *f, rh_dvec3 r, double r2)
{
    double inverse2 = 1 / r2, inverse3 = inverse2 * sqrt(inverse2);
    double bent = f->xx * r.x * r.x + f->yy * r.y * r.y + f->zz * r.z * r.z +
                  2 * (f->xy * r.x * r.y + f->yz * r.y * r.z + f->zx * r.z * r.x);
    return inverse3 * (rh_d3_dot(f->normal, r) + (f->xx + f->yy + f->zz) - 3 * bent * inverse2);
}

double rh_bvh_winding(const rh_bvh *bvh, rh_dvec3 point)
{
    int32_t stack[STACK];
    int depth = 0;
    double sum = 0;
    turns near = {1, 0, 0};
    stack[depth++] = 0;
    while (depth > 0) {
        int32_t index = stack[--depth];
        const rh_bvh_node *node = &bvh->nodes[index];
        const rh_bvh_expansion *f = &bvh->expansion[index];
        rh_dvec3 r = rh_d3_sub(f->center, point);
        double r2 = square(r);
        if (r2 > reach * reach * f->radius2) {
            sum += winding_from_expansion(f, r, r2);
        } else if (node->count > 0) {
            for (int32_t i = node->first; i < node->first + node->count; i++)
                add_solid_angle(&bvh->triangles[i], point, &near);
        } else {
            RH_ASSERT(depth + 2 <= STACK);
            stack[depth++] = node->first;
            stack[depth++] = node->first + 1;
        }
    }
    return (sum + 2 * angle_of(&near)) / (4 * pi);
}
