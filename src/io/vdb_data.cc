// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Grids of .vdb files, and volumes as columns. The buffers of leaves are visited where they are. A tile
// is looked at block by block before it becomes leaves: mostly it need not.
#include "io/vdb_data.hh"
#include "io/vdb_points_grid.hh"

#pragma GCC visibility push(default)
RH_VDB_EXTERN(openvdb::BoolGrid)
RH_VDB_EXTERN(openvdb::DoubleGrid)
RH_VDB_EXTERN(openvdb::Vec3IGrid)
RH_VDB_EXTERN(openvdb::Vec3DGrid)
#pragma GCC visibility pop

#include <algorithm>
#include <atomic>
#include <memory>

using openvdb::Coord;
using openvdb::Index;
using rh_vdb::Entry;
using rh_vdb::for_blocks;
using rh_vdb::guarded;
using rh_vdb::own_tree;
using rh_vdb::room;
using rh_vdb::Scratch;

namespace {

using Volumes = openvdb::TypeList<openvdb::BoolGrid, openvdb::Int32Grid, openvdb::Int64Grid, openvdb::FloatGrid,
                                  openvdb::DoubleGrid, openvdb::Vec3IGrid, openvdb::Vec3SGrid, openvdb::Vec3DGrid>;

template <typename T> struct Named;
template <> struct Named<bool> {
    static constexpr rh_lang_type type = RH_LANG_BOOL;
};
template <> struct Named<int32_t> {
    static constexpr rh_lang_type type = RH_LANG_INT32;
};
template <> struct Named<int64_t> {
    static constexpr rh_lang_type type = RH_LANG_INT64;
};
template <> struct Named<float> {
    static constexpr rh_lang_type type = RH_LANG_FLOAT;
};
template <> struct Named<double> {
    static constexpr rh_lang_type type = RH_LANG_DOUBLE;
};
template <> struct Named<openvdb::Vec3i> {
    static constexpr rh_lang_type type = RH_LANG_VEC3I;
};
template <> struct Named<openvdb::Vec3f> {
    static constexpr rh_lang_type type = RH_LANG_VEC3F;
};
template <> struct Named<openvdb::Vec3d> {
    static constexpr rh_lang_type type = RH_LANG_VEC3D;
};

void add_entry(rh_vdb_data &data, const openvdb::GridBase::Ptr &grid)
{
    data.entries.push_back({grid, nullptr, grid->getName(), grid->valueType()});
}

// The library decompresses what it reads on one thread. Asked to delay that, it only notes where things are in the
// file, and all threads can then fetch them.
template <typename Leaf, typename Load>
void load_leaves(const std::vector<const Leaf *> &leaves, const rh_vdb_watch *who, const Load &load)
{
    rh_vdb::Watch watch(who, "read", int64_t(leaves.size()));
    tbb::parallel_for(tbb::blocked_range<size_t>(0, leaves.size()), [&](const tbb::blocked_range<size_t> &range) {
        for (size_t l = range.begin(); l < range.end(); l++) load(*leaves[l]), watch.step();
    });
}

void load_grid(const openvdb::GridBase &base, const rh_vdb_watch *who)
{
    using PointGrid = openvdb::points::PointDataGrid;
    using Known = Volumes::Append<PointGrid>;
    base.apply<Known>([&](const auto &grid) {
        using Leaf = typename std::decay_t<decltype(grid)>::TreeType::LeafNodeType;
        std::vector<const Leaf *> leaves;
        for (auto leaf = grid.tree().cbeginLeaf(); leaf; ++leaf) leaves.push_back(&*leaf);
        load_leaves(leaves, who, [](const Leaf &leaf) {
            if constexpr (!std::is_same<typename Leaf::ValueType, bool>::value) leaf.buffer().data();
            if constexpr (std::is_same<Leaf, PointGrid::TreeType::LeafNodeType>::value)
                for (size_t i = 0; i < leaf.attributeSet().size(); i++)
                    if (const auto *array = leaf.attributeSet().getConst(i)) array->loadData();
        });
    });
}

// Files without points are read at once: fetching single voxels' blocks later is more work than it saves.
void open_file(openvdb::io::File &file)
{
    file.open(/*delayLoad=*/false);
    bool points = false;
    for (auto name = file.beginName(); name != file.endName(); ++name)
        points = points || rh_vdb::grid_type(file, name.gridName()) == "ptdataidx32";
    if (!points) return;
    file.close();
    file.setCopyMaxBytes(0);  // the library would copy the file to another place first; ours are never changed in place
    file.open(/*delayLoad=*/true);
}

rh_code read_file(rh_vdb_data &data, const char *path, rh_status *status)
{
    rh_vdb::SafeFile safe;
    RH_TRY(rh_vdb_safe_open(path, &safe.file, status));
    openvdb::io::File file(safe.file.path);
    open_file(file);
    if (data.entries.empty()) data.facts = *file.getMetadata();
    for (auto name = file.beginName(); name != file.endName(); ++name) {
        rh_vdb::Watch(data.watch, "read", 1).at(0);
        if (rh_vdb::grid_type(file, name.gridName()) == "unknown")
            return rh_fail(status, RH_USER, "%s: the grid %s is of an unknown type and could not be written again",
                           path, name.gridName().c_str());
        auto grid = file.readGrid(name.gridName());
        if (!grid) throw std::runtime_error("the grid " + name.gridName() + " cannot be read");
        load_grid(*grid, data.watch);
        add_entry(data, grid);
    }
    return RH_OK;
}

void describe_transform(const openvdb::math::Transform &transform, rh_vdb_grid &out)
{
    out.linear = transform.isLinear();
    if (!out.linear) return;
    const openvdb::Vec3d zero = transform.indexToWorld(openvdb::Vec3d(0.0));
    for (int a = 0; a < 3; a++) {
        openvdb::Vec3d unit(0.0);
        unit[a] = 1;
        const openvdb::Vec3d step = transform.indexToWorld(unit) - zero;
        for (int c = 0; c < 3; c++) out.to_world[a][c] = step[c], out.to_world[3][c] = zero[c];
    }
}

// --- volumes ---------------------------------------------------------------------------------------------------------

constexpr int VOXELS = 512;

// The voxels of a block that are visited; nullptr stands for all.
struct Block {
    Coord origin;  // of a leaf
    const int64_t *selection;
    int64_t count;
};

// A grid that is read at another grid's voxels. Each call has its own accessor.
class Source {
  public:
    virtual ~Source() = default;
    // Values at the block's voxels; a column of one value only where the program does not write to it.
    virtual rh_lang_column sample(const Block &block, bool writes, std::vector<char> &buffer) const = 0;
};

template <typename T> rh_lang_column fill(T value, bool writes, std::vector<char> &buffer)
{
    T *out = reinterpret_cast<T *>(room(buffer, VOXELS * sizeof(T)));
    std::fill_n(out, writes ? VOXELS : 1, value);
    return {out, writes ? int64_t(sizeof(T)) : 0};
}

Coord voxel_at(const Coord &origin, int64_t n) { return origin.offsetBy(int(n >> 6 & 7), int(n >> 3 & 7), int(n & 7)); }

template <typename Grid> class GridSource : public Source {
    using Tree = typename Grid::TreeType;
    using T = typename Tree::ValueType;
    const Grid &grid;
    const openvdb::math::Transform &target;
    bool same;

    rh_lang_column nearest(const Block &block, std::vector<char> &buffer) const
    {
        T *out = reinterpret_cast<T *>(room(buffer, VOXELS * sizeof(T)));
        openvdb::tree::ValueAccessor<const Tree, /*IsSafe=*/false> accessor(grid.tree());
        for (int64_t i = 0; i < block.count; i++) {
            const int64_t n = block.selection ? block.selection[i] : i;
            const openvdb::Vec3d world = target.indexToWorld(voxel_at(block.origin, n));
            out[n] = accessor.getValue(grid.transform().worldToIndexCellCentered(world));
        }
        return {out, int64_t(sizeof(T))};
    }

  public:
    GridSource(const Grid &g, const openvdb::math::Transform &t) : grid(g), target(t), same(g.transform() == t) {}

    rh_lang_column sample(const Block &block, bool writes, std::vector<char> &buffer) const override
    {
        if (!same) return nearest(block, buffer);
        const auto *leaf = grid.tree().probeConstLeaf(block.origin);
        if (!leaf) return fill<T>(grid.tree().getValue(block.origin), writes, buffer);
        if constexpr (!std::is_same<T, bool>::value)
            if (!writes) return {const_cast<T *>(leaf->buffer().data()), int64_t(sizeof(T))};
        T *out = reinterpret_cast<T *>(room(buffer, VOXELS * sizeof(T)));
        for (Index n = 0; n < VOXELS; n++) out[n] = leaf->getValue(n);
        return {out, int64_t(sizeof(T))};
    }
};

// Where a column's values are not read: zeros that may be written.
class Nothing : public Source {
    size_t size;

  public:
    explicit Nothing(size_t bytes) : size(bytes) {}
    rh_lang_column sample(const Block &, bool, std::vector<char> &buffer) const override
    {
        std::memset(room(buffer, VOXELS * size), 0, VOXELS * size);
        return {buffer.data(), int64_t(size)};
    }
};

std::unique_ptr<Source> make_source(const rh_vdb_data &data, const rh_vdb_volume_job &job, int column)
{
    const Entry &entry = data.entries[size_t(job.grids[column])];
    const openvdb::math::Transform &target = data.entries[size_t(job.grids[job.target])].grid->transform();
    const openvdb::GridBase &base = entry.old ? *entry.old : *entry.grid;
    std::unique_ptr<Source> source;
    base.apply<Volumes>([&](const auto &grid) {
        using Grid = std::decay_t<decltype(grid)>;
        if (job.reads[column]) source = std::make_unique<GridSource<Grid>>(grid, target);
        else source = std::make_unique<Nothing>(sizeof(typename Grid::ValueType));
    });
    return source;
}

template <typename Grid> class VolumeVisit {
    using Tree = typename Grid::TreeType;
    using T = typename Tree::ValueType;
    using LeafNode = typename Tree::LeafNodeType;
    struct Tile {
        Coord origin;
        int level;
        T value;
        bool active;
    };
    struct Result {
        T value;
        std::unique_ptr<T[]> voxels;  // empty where all have the value
    };

    Grid &grid;
    const rh_vdb_volume_job &job;
    const rh_vdb_visitor &visitor;
    const rh_vdb_watch *watch;
    std::vector<std::unique_ptr<Source>> sources;
    std::vector<Scratch> scratch;
    std::atomic<bool> failed{false};

  public:
    VolumeVisit(const rh_vdb_data &data, Grid &g, const rh_vdb_volume_job &j, const rh_vdb_visitor &v)
        : grid(g), job(j), visitor(v), watch(data.watch), scratch(size_t(rh_threads()))
    {
        for (int c = 0; c < job.count; c++) sources.push_back(c == job.target ? nullptr : make_source(data, job, c));
        for (Scratch &s : scratch) s.resize(size_t(job.count) + 1);
    }

    rh_code run(rh_status *status)
    {
        const std::vector<Tile> tiles = list_tiles();  // before leaves may come from them
        if (!(job.skipped & 1)) RH_TRY(visit_leaves(status));
        return visit_tiles(tiles, status);
    }

  private:
    void call(int slot, int64_t block, const Block &where, T *values)
    {
        std::vector<rh_lang_column> columns(size_t(job.count) + 1);
        for (int c = 0; c < job.count; c++)
            columns[size_t(c)] = c == job.target ? rh_lang_column{values, int64_t(sizeof(T))}
                                                 : sources[size_t(c)]->sample(where, job.writes[c],
                                                                              scratch[size_t(slot)][size_t(c)]);
        const int32_t origin[3] = {where.origin.x(), where.origin.y(), where.origin.z()};
        const rh_lang_elements elements = {columns.data(), where.selection};
        if (visitor.visit(visitor.user, slot, block, origin, &elements, 0, where.count) != RH_OK) failed = true;
    }

    // ---- leaves

    int64_t choose(const LeafNode &leaf, int64_t *out) const
    {
        int64_t count = 0;
        for (Index n = 0; n < VOXELS; n++)
            if (job.states == RH_VDB_ALL || leaf.isValueOn(n) == (job.states == RH_VDB_ON)) out[count++] = n;
        return count;
    }

    void visit_leaf(int slot, int64_t block, LeafNode &leaf)
    {
        int64_t chosen[VOXELS];
        const int64_t count = choose(leaf, chosen);
        if (count == 0) return;
        const Block where = {leaf.origin(), count == VOXELS ? nullptr : chosen, count};
        if constexpr (std::is_same<T, bool>::value) {
            bool values[VOXELS];
            for (Index n = 0; n < VOXELS; n++) values[n] = leaf.getValue(n);
            call(slot, block, where, values);
            for (int64_t i = 0; i < count; i++) leaf.setValueOnly(Index(chosen[i]), values[chosen[i]]);
        } else {
            call(slot, block, where, leaf.buffer().data());
        }
    }

    rh_code visit_leaves(rh_status *status)
    {
        std::vector<LeafNode *> leaves;
        for (auto leaf = grid.tree().beginLeaf(); leaf; ++leaf) leaves.push_back(&*leaf);
        return for_blocks(visitor, watch, int64_t(leaves.size()), status,
                          [&](int slot, int64_t block) { visit_leaf(slot, block, *leaves[size_t(block)]); });
    }

    // ---- tiles

    std::vector<Tile> list_tiles() const
    {
        std::vector<Tile> tiles;
        auto value = grid.tree().cbeginValueAll();
        value.setMaxDepth(Tree::ValueAllCIter::LEAF_DEPTH - 1);
        for (; value; ++value)
            if (!(job.skipped >> value.getLevel() & 1) &&
                (job.states == RH_VDB_ALL || value.isValueOn() == (job.states == RH_VDB_ON)))
                tiles.push_back(
                    {value.getBoundingBox().min(), int(value.getLevel()), value.getValue(), value.isValueOn()});
        return tiles;
    }

    static bool same_bits(const T &a, const T &b) { return std::memcmp(&a, &b, sizeof a) == 0; }

    Result visit_block(int slot, int64_t block, const Tile &tile)
    {
        std::unique_ptr<T[]> values(new T[VOXELS]);
        std::fill_n(values.get(), VOXELS, tile.value);
        call(slot, block, {tile.origin, nullptr, VOXELS}, values.get());
        for (int n = 1; n < VOXELS; n++)
            if (!same_bits(values[size_t(n)], values[0])) return {values[0], std::move(values)};
        return {values[0], nullptr};
    }

    void put(const Tile &tile, const Result &result)
    {
        if (!result.voxels) return grid.tree().addTile(Index(tile.level), tile.origin, result.value, tile.active);
        auto *leaf = new LeafNode(tile.origin, result.value, tile.active);
        for (Index n = 0; n < VOXELS; n++) leaf->setValueOnly(n, result.voxels[n]);
        grid.tree().addLeaf(leaf);
    }

    // Blocks of 8^3, one a tile of that size. The tree is not touched.
    rh_code visit_blocks(const std::vector<Tile> &tiles, std::vector<Result> &results, rh_status *status)
    {
        results.resize(tiles.size());
        return for_blocks(visitor, watch, int64_t(tiles.size()), status, [&](int slot, int64_t block) {
            results[size_t(block)] = visit_block(slot, block, tiles[size_t(block)]);
        });
    }

    static std::vector<Tile> split(const Tile &tile)
    {
        const int side = tile.level == 2 ? 16 : 32, step = tile.level == 2 ? 8 : 128;
        std::vector<Tile> parts;
        for (int n = 0; n < side * side * side; n++)
            parts.push_back({tile.origin.offsetBy(n / (side * side) * step, n / side % side * step, n % side * step),
                             tile.level - 1, tile.value, tile.active});
        return parts;
    }

    // A large tile, its parts one level below looked at in turn. As long as all became one value nothing is put into
    // the tree: `out` is that value and *whole stays true.
    rh_code visit_large(const Tile &tile, T &out, bool &whole, rh_status *status)
    {
        const std::vector<Tile> parts = split(tile);
        std::vector<Result> results;
        whole = true;
        if (tile.level == 2) {
            RH_TRY(visit_blocks(parts, results, status));
            for (const Result &r : results) whole = whole && !r.voxels && same_bits(r.value, results[0].value);
            out = results[0].value;
            for (size_t i = 0; !whole && i < parts.size(); i++) put(parts[i], results[i]);
            return RH_OK;
        }
        for (size_t i = 0; i < parts.size() && !failed; i++) {
            T value;
            bool part_whole;
            RH_TRY(visit_large(parts[i], value, part_whole, status));
            if (i == 0) out = value;
            const bool goes_on = whole && part_whole && same_bits(value, out);
            for (size_t k = 0; whole && !goes_on && k < i; k++) put(parts[k], {out, nullptr});
            if (!goes_on && part_whole) put(parts[i], {value, nullptr});
            whole = goes_on;
        }
        return RH_OK;
    }

    rh_code visit_expanded(const std::vector<Tile> &tiles, rh_status *status)
    {
        constexpr size_t AT_ONCE = 4096;  // their voxels are in memory together
        std::vector<Tile> small;
        for (size_t i = 0; i <= tiles.size() && !failed; i++) {
            if (i < tiles.size() && tiles[i].level == 1) small.push_back(tiles[i]);
            if (i == tiles.size() || small.size() == AT_ONCE) {
                std::vector<Result> results;
                RH_TRY(visit_blocks(small, results, status));
                for (size_t k = 0; k < small.size(); k++) put(small[k], results[k]);
                small.clear();
            }
            if (i == tiles.size() || tiles[i].level == 1) continue;
            T value;
            bool whole;
            RH_TRY(visit_large(tiles[i], value, whole, status));
            if (whole) put(tiles[i], {value, nullptr});
        }
        return RH_OK;
    }

    rh_code visit_tiles(const std::vector<Tile> &tiles, rh_status *status)
    {
        std::vector<Tile> expanded, single;
        for (const Tile &tile : tiles) (job.expand && tile.active ? expanded : single).push_back(tile);
        std::vector<Result> results(single.size());
        RH_TRY(for_blocks(visitor, watch, int64_t(single.size()), status, [&](int slot, int64_t block) {
            const Tile &tile = single[size_t(block)];
            results[size_t(block)] = {tile.value, nullptr};
            call(slot, block, {tile.origin, nullptr, 1}, &results[size_t(block)].value);
        }));
        for (size_t i = 0; i < single.size(); i++)
            if (!same_bits(single[i].value, results[i].value)) put(single[i], results[i]);
        return expanded.empty() ? RH_OK : visit_expanded(expanded, status);
    }
};

rh_code visit_volume(rh_vdb_data &data, const rh_vdb_volume_job &job, const rh_vdb_visitor &visitor, rh_status *status)
{
    rh_code code = RH_OK;
    openvdb::GridBase &base = *data.entries[size_t(job.grids[job.target])].grid;
    own_tree(base);
    base.apply<Volumes>(
        [&](auto &grid) { code = VolumeVisit<std::decay_t<decltype(grid)>>(data, grid, job, visitor).run(status); });
    return code;
}

openvdb::GridBase::Ptr make_volume(rh_lang_type type)
{
    openvdb::GridBase::Ptr made;
    Volumes::foreach ([&](auto model) {
        using Grid = decltype(model);
        if (Named<typename Grid::ValueType>::type == type)
            made = Grid::create(openvdb::zeroVal<typename Grid::ValueType>());
    });
    return made;
}

rh_lang_type volume_type(const openvdb::GridBase &base)
{
    rh_lang_type type = RH_LANG_VOID;
    base.apply<Volumes>(
        [&](const auto &grid) { type = Named<typename std::decay_t<decltype(grid)>::ValueType>::type; });
    return type;
}

}  // namespace

// --- the border ------------------------------------------------------------------------------------------------------

extern "C" rh_code rh_vdb_data_read(const char *const *paths, int count, const rh_vdb_watch *watch, rh_vdb_data **out,
                                    rh_status *status)
{
    std::unique_ptr<rh_vdb_data> data(new (std::nothrow) rh_vdb_data);
    *out = nullptr;
    if (!data) return rh_fail(status, RH_MEMORY, "out of memory");
    data->watch = watch;
    for (int i = 0; i < count; i++)
        RH_TRY(guarded(paths[i], RH_USER, status, [&] { return read_file(*data, paths[i], status); }));
    *out = data.release();
    return RH_OK;
}

extern "C" void rh_vdb_data_free(rh_vdb_data *data) { delete data; }

extern "C" rh_code rh_vdb_data_write(const char *path, const rh_vdb_data *data, rh_status *status)
{
    char temporary[RH_PATH_MAX];
    RH_TRY(rh_file_temporary(path, temporary, status));
    const rh_code code = guarded(path, RH_IO, status, [&] {
        openvdb::GridCPtrVec grids;
        for (const Entry &entry : data->entries) grids.push_back(entry.grid);
        const rh_vdb::Watch watch(data->watch, "write", 1);
        return rh_vdb::write_sealed(
            temporary, grids, data->facts, [&](double share) { watch.at(share); }, status);
    });
    if (code == RH_OK) return rh_file_commit(temporary, path, status);
    rh_file_discard(temporary);
    return code;
}

extern "C" bool rh_vdb_data_frame(const rh_vdb_data *data, rh_frame_info *out)
{
    for (const Entry &entry : data->entries) {
        if (!entry.grid->getMetadata<openvdb::Int64Metadata>("rheo_frame")) continue;
        *out = rh_vdb::get_facts(*entry.grid);
        return true;
    }
    return false;
}

extern "C" int rh_vdb_data_count(const rh_vdb_data *data) { return int(data->entries.size()); }

extern "C" rh_vdb_grid rh_vdb_data_grid(const rh_vdb_data *data, int grid)
{
    const Entry &entry = data->entries[size_t(grid)];
    rh_vdb_grid out = {};
    out.name = entry.name.c_str();
    out.value = entry.value.c_str();
    out.type = volume_type(*entry.grid);
    out.kind = entry.grid->isType<openvdb::points::PointDataGrid>() ? RH_VDB_POINTS
               : out.type != RH_LANG_VOID                           ? RH_VDB_VOLUME
                                                                    : RH_VDB_OTHER;
    describe_transform(entry.grid->transform(), out);
    return out;
}

extern "C" rh_code rh_vdb_volume_add(rh_vdb_data *data, const char *name, rh_lang_type type, int *grid,
                                     rh_status *status)
{
    return guarded(name, RH_IO, status, [&] {
        auto made = make_volume(type);
        if (!made)
            return rh_fail(status, RH_USER, "there are no volumes of type %s: %s cannot be made",
                           rh_lang_type_name(type), name);
        made->setName(name);
        add_entry(*data, made);
        *grid = int(data->entries.size()) - 1;
        return RH_OK;
    });
}

extern "C" rh_code rh_vdb_data_remember(rh_vdb_data *data, int grid, rh_status *status)
{
    Entry &entry = data->entries[size_t(grid)];
    return guarded(entry.name.c_str(), RH_IO, status, [&] { return entry.old = entry.grid->deepCopyGrid(), RH_OK; });
}

extern "C" void rh_vdb_data_forget(rh_vdb_data *data)
{
    for (Entry &entry : data->entries) entry.old.reset();
}

extern "C" rh_code rh_vdb_volume_visit(rh_vdb_data *data, const rh_vdb_volume_job *job, const rh_vdb_visitor *visitor,
                                       rh_status *status)
{
    const Entry &entry = data->entries[size_t(job->grids[job->target])];
    return guarded(entry.name.c_str(), RH_IO, status, [&] { return visit_volume(*data, *job, *visitor, status); });
}
