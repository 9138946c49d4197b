// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Writing .vdb files. The format is the library's, byte for byte; two things are done otherwise than it does them:
// - Its File does not look whether the stream failed: a full disk would pass for success.
// - It compresses the arrays of points in pages of a megabyte, one after the other and each twice (for the sizes, which
//   come first in the file, and for the data), which took longer than all else. Here pages are compressed once, on all
//   threads. How arrays make up pages is PagedOutputStream's rule (openvdb/points/StreamCompression.cc): an array that
//   does not fit begins a new page, one longer than a page is a page of its own.
#include "io/vdb_points_grid.hh"
#include "io/vdb_shared.hh"

#pragma GCC visibility push(default)
#include <openvdb/io/Archive.h>
#include <openvdb/points/StreamCompression.h>
#pragma GCC visibility pop

#include <cerrno>
#include <fstream>
#include <memory>

namespace vp = openvdb::points;
namespace vc = openvdb::compression;
using openvdb::Index;
using Leaf = vp::PointDataTree::LeafNodeType;

namespace {

constexpr size_t KEPT_BYTES =
    size_t(1) << 30;  // of compressed pages in memory; what is more is compressed again when its turn comes

// Of one attribute, leaves begin to end.
struct Page {
    size_t begin, end, bytes;
    int32_t packed = 0;            // bytes when compressed; 0: does not become smaller
    std::unique_ptr<char[]> kept;  // compressed
};

class PackedPoints : public vp::PointDataGrid {
    std::vector<const Leaf *> leaves;
    mutable std::vector<std::vector<Page>> attributes;
    mutable size_t kept = 0, done = 0;
    const rh_vdb::Step &step;

    const vp::AttributeArray *array(size_t leaf, size_t attribute) const
    {
        const vp::AttributeSet &set = leaves[leaf]->attributeSet();
        const vp::AttributeArray *found = attribute < set.size() ? set.getConst(attribute) : nullptr;
        return found && !found->isTransient() ? found : nullptr;
    }

    static size_t bytes_of(const vp::AttributeArray *array)
    {
        if (!array) return 0;
        return size_t(array->isUniform() ? 1 : array->dataSize()) * array->storageTypeSize();
    }

    std::vector<Page> list_pages(size_t attribute) const
    {
        std::vector<Page> pages;
        bool open = false;
        for (size_t l = 0; l < leaves.size(); l++) {
            const size_t bytes = bytes_of(array(l, attribute)), limit = size_t(vc::PageSize);
            if (bytes == 0) continue;
            if (!open || bytes > limit || pages.back().bytes + bytes > limit) pages.push_back({l, l, 0, 0, nullptr});
            pages.back().end = l + 1, pages.back().bytes += bytes;
            open = bytes <= limit;
        }
        return pages;
    }

    // A page of one array is where it is; others are put together in `room`.
    const char *contents(const Page &page, size_t attribute, std::vector<char> &room) const
    {
        if (page.end == page.begin + 1) return array(page.begin, attribute)->constDataAsByteArray();
        room.resize(page.bytes);
        char *to = room.data();
        for (size_t l = page.begin; l < page.end; l++) {
            const vp::AttributeArray *from = array(l, attribute);
            const size_t bytes = bytes_of(from);
            if (bytes) std::memcpy(to, from->constDataAsByteArray(), bytes);
            to += bytes;
        }
        return room.data();
    }

    std::unique_ptr<char[]> pack(const Page &page, size_t attribute, size_t &packed) const
    {
        std::vector<char> room;
        packed = 0;
        return vc::bloscCompress(contents(page, attribute, room), page.bytes, packed, /*resize=*/true);
    }

    void pack_all(size_t attribute) const
    {
        std::vector<Page> &pages = attributes[attribute];
        pages = list_pages(attribute);
        std::vector<bool> keep(pages.size());
        for (size_t i = 0; i < pages.size(); i++) keep[i] = (kept += pages[i].bytes) <= KEPT_BYTES;
        tbb::parallel_for(size_t(0), pages.size(), [&](size_t i) {
            size_t packed;
            auto data = pack(pages[i], attribute, packed);
            pages[i].packed = int32_t(packed);
            if (keep[i]) pages[i].kept = std::move(data);
        });
    }

    void write_sizes(std::ostream &os, size_t attribute) const
    {
        pack_all(attribute);
        for (const Page &page : attributes[attribute]) {
            const int32_t sizes[] = {page.packed ? page.packed : -int32_t(page.bytes), int32_t(page.bytes)};
            os.write(reinterpret_cast<const char *>(sizes), page.packed ? 2 * sizeof(int32_t) : sizeof(int32_t));
        }
        advance();
    }

    void write_data(std::ostream &os, size_t attribute) const
    {
        std::vector<char> room;
        for (Page &page : attributes[attribute]) {
            size_t packed = size_t(page.packed);
            if (page.packed && !page.kept) page.kept = pack(page, attribute, packed);
            if (page.packed) os.write(page.kept.get(), std::streamsize(packed));
            else os.write(contents(page, attribute, room), std::streamsize(page.bytes));
            page.kept.reset();
        }
        advance();
    }

    void advance() const
    {
        if (step) step(double(++done) / double(2 * attributes.size() + 1));
    }

  public:
    PackedPoints(vp::PointDataGrid &grid, const rh_vdb::Step &s)
        : vp::PointDataGrid(grid, openvdb::ShallowCopy()), step(s)
    {
        for (auto leaf = grid.tree().cbeginLeaf(); leaf; ++leaf) leaves.push_back(&*leaf);
    }

    // As Grid::writeBuffers does, with those passes our own that hold pages (PointDataLeafNode::writeBuffers says
    // which).
    void writeBuffers(std::ostream &os) const override
    {
        const auto meta = openvdb::io::getStreamMetadataPtr(os);
        if (leaves.empty() || !(openvdb::io::getDataCompression(os) & openvdb::io::COMPRESS_BLOSC))
            return vp::PointDataGrid::writeBuffers(os);
        meta->setCountingPasses(true);
        meta->setPass(0);
        this->tree().writeBuffers(os, this->saveFloatAsHalf());
        const uint16_t passes = static_cast<uint16_t>(meta->pass());
        os.write(reinterpret_cast<const char *>(&passes), sizeof passes);
        meta->setCountingPasses(false);
        const size_t count = size_t(passes - 4) / 2;
        attributes.resize(count);
        for (uint32_t pass = 0; pass < passes; pass++) {
            meta->setPass(uint32_t(passes) << 16 | pass);
            if (pass >= 2 && pass < count + 2) write_sizes(os, pass - 2);
            else if (pass >= count + 3 && pass < 2 * count + 3) write_data(os, pass - count - 3);
            else this->tree().writeBuffers(os, this->saveFloatAsHalf());
        }
    }
};

class Writer : public openvdb::io::Archive {
  public:
    void write_file(const char *path, const openvdb::GridCPtrVec &grids, const openvdb::MetaMap &facts)
    {
        std::vector<char> buffer(1 << 20);
        std::ofstream stream;
        stream.rdbuf()->pubsetbuf(buffer.data(), std::streamsize(buffer.size()));
        errno = 0;
        stream.open(path, std::ios::binary | std::ios::trunc);
        if (stream) this->setCompression(openvdb::io::COMPRESS_BLOSC | openvdb::io::COMPRESS_ACTIVE_MASK);
        if (stream) this->write(stream, grids, /*seekable=*/true, facts);
        stream.close();
        if (!stream) throw std::runtime_error(std::string("cannot write: ") + std::strerror(errno ? errno : EIO));
    }
};

// A tree that several grids share is still written once: shallow copies have it, too.
openvdb::GridCPtrVec packed(const openvdb::GridCPtrVec &grids, const rh_vdb::Step &step)
{
    openvdb::GridCPtrVec out;
    for (const auto &grid : grids) {
        if (!grid->isType<vp::PointDataGrid>()) out.push_back(grid);
        else
            out.push_back(std::make_shared<PackedPoints>(
                const_cast<vp::PointDataGrid &>(static_cast<const vp::PointDataGrid &>(*grid)), step));
    }
    return out;
}

}  // namespace

rh_code rh_vdb::write_sealed(const char *path, const openvdb::GridCPtrVec &grids, const openvdb::MetaMap &facts,
                             const Step &step, rh_status *status)
{
    Writer().write_file(path, packed(grids, step), facts);
    if (step) step(1);
    return rh_vdb_seal(path, status);
}
