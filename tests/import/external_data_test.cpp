// Weights in other files: found beside the model, and nowhere else.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>

#include "import_fixture.h"
#include "support/temporary_folder.h"

namespace plimsoll::tensor::test {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using Entries = std::vector<std::pair<std::string, std::string>>;

class ExternalData : public ::testing::Test {
 protected:
  ExternalData() {
    fs::create_directories(folder_.path() / "model" / "weights" / "deep");
    const std::vector<float> values{1, 2, 3, 4, 5, 6};
    bytes_.assign(reinterpret_cast<const char*>(values.data()), 24);
    folder_.write("model/data.bin", bytes_);
    folder_.write("model/weights/deep/data.bin", bytes_);
    folder_.write("secret.bin", bytes_);
  }

  std::shared_ptr<const StoredTensor> import(const Entries& entries,
                                             const Dimensions& shape = {4}) {
    const std::string path = folder_.file("model/model.onnx");
    ModelWriter()
        .graph(graph_of({NodeWriter("Op", {"x", "w"}, {"y"})})
                   .initializer(external_tensor("w", ElementType::f32, shape, entries)))
        .write(path);
    return value_named(import_onnx(path)->main, "w").stored;
  }
  void expect_refused(const Entries& entries, const std::vector<std::string>& parts) {
    expect_error([&] { return import(entries); }, ErrorKind::bad_input, parts);
  }

  TemporaryFolder folder_;
  std::string bytes_;
};

TEST_F(ExternalData, IsFoundByLocationOffsetAndLength) {
  EXPECT_THAT(elements_of<float>(*import({{"location", "data.bin"}})), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(elements_of<float>(*import({{"location", "data.bin"}, {"offset", "8"}})),
              ElementsAre(3, 4, 5, 6));
  EXPECT_THAT(elements_of<float>(*import({{"location", "./weights//deep/./data.bin"},
                                          {"offset", "4"},
                                          {"length", "16"},
                                          {"checksum", "unused"}})),
              ElementsAre(2, 3, 4, 5));
}

TEST_F(ExternalData, LargeOnesStayInTheirFile) {
  std::string large;
  for (int i = 0; i < 100; ++i) large += bytes_;
  folder_.write("model/large.bin", large);
  const auto stored = import({{"location", "large.bin"}, {"offset", "24"}}, {500});
  const auto& range = std::get<FileRange>(stored->source);
  EXPECT_EQ(range.file->path(), folder_.file("model/large.bin"));
  EXPECT_EQ(range.offset, 24U);
  EXPECT_EQ(range.length, 2000U);
  EXPECT_EQ(elements_of<float>(*stored).at(6), 1);
}

TEST_F(ExternalData, OneFileIsOpenedOnce) {
  const std::string path = folder_.file("model/model.onnx");
  folder_.write("model/large.bin", std::string(4096, '\1'));
  const Message first = external_tensor("a", ElementType::f32, {512}, {{"location", "large.bin"}});
  const Message second = external_tensor("b", ElementType::f32, {512},
                                         {{"location", "large.bin"}, {"offset", "2048"}});
  ModelWriter()
      .graph(graph_of({NodeWriter("Op", {"x", "a", "b"}, {"y"})})
                 .initializer(first)
                 .initializer(second))
      .write(path);
  const auto model = import_onnx(path);
  EXPECT_EQ(std::get<FileRange>(value_named(model->main, "a").stored->source).file,
            std::get<FileRange>(value_named(model->main, "b").stored->source).file);
}

TEST_F(ExternalData, PathsOutsideOfTheFolderAreRefused) {
  expect_refused({{"location", "../secret.bin"}}, {"'w'", "../secret.bin", "outside"});
  expect_refused({{"location", "weights/../../secret.bin"}}, {"outside"});
  expect_refused({{"location", "weights/.."}}, {"outside"});
  expect_refused({{"location", folder_.file("secret.bin")}}, {"absolute"});
  expect_refused({{"location", ""}}, {"no usable location"});
  expect_refused({}, {"no usable location"});
  expect_refused({{"location", std::string("data.bin\0x", 10)}}, {"no usable location"});
}

TEST_F(ExternalData, LinksMayNotLeadOutside) {
  const fs::path model = folder_.path() / "model";
  fs::create_symlink("../secret.bin", model / "up.bin");
  fs::create_symlink(folder_.file("secret.bin"), model / "absolute.bin");
  fs::create_directory_symlink("..", model / "parent");
  fs::create_symlink("weights/deep/../../../secret.bin", model / "roundabout.bin");
  fs::create_symlink("self.bin", model / "self.bin");
  expect_refused({{"location", "up.bin"}}, {"'w'", "up.bin", "outside"});
  expect_refused({{"location", "absolute.bin"}}, {"outside"});
  expect_refused({{"location", "parent/secret.bin"}}, {"outside"});
  expect_refused({{"location", "roundabout.bin"}}, {"outside"});
  expect_refused({{"location", "self.bin"}}, {"symbolic links"});
}

TEST_F(ExternalData, LinksInsideAreFollowed) {
  const fs::path model = folder_.path() / "model";
  fs::create_symlink("data.bin", model / "same.bin");
  fs::create_directory_symlink("weights/deep", model / "short");
  fs::create_symlink("deep/../../data.bin", model / "weights" / "back.bin");
  for (const char* location : {"same.bin", "short/data.bin", "weights/back.bin"}) {
    EXPECT_THAT(elements_of<float>(*import({{"location", location}})), ElementsAre(1, 2, 3, 4))
        << location;
  }
  // The folder of the model may itself be reached by a link.
  fs::create_directory_symlink(model, folder_.path() / "alias");
  const auto aliased = import_onnx(folder_.file("alias/model.onnx"));
  EXPECT_THAT(elements_of<float>(*value_named(aliased->main, "w").stored), ElementsAre(1, 2, 3, 4));
}

TEST_F(ExternalData, MissingShortAndOddFilesAreNamed) {
  expect_refused({{"location", "gone.bin"}}, {"'w'", "gone.bin", "does not exist"});
  expect_refused({{"location", "weights"}}, {"directory"});
  expect_refused({{"location", "data.bin/more"}}, {"does not exist"});
  ASSERT_EQ(::mkfifo(folder_.file("model/pipe").c_str(), 0600), 0);
  expect_refused({{"location", "pipe"}}, {"regular file"});
  expect_refused({{"location", "data.bin"}, {"offset", "12"}}, {"'w'", "24 bytes", "offset 12"});
  folder_.write("model/pointer.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:0\n");
  expect_error([&] { return import({{"location", "pointer.bin"}}, {500}); }, ErrorKind::bad_input,
               {"Git LFS", "git lfs pull"});
}

TEST_F(ExternalData, NumbersThatWrapOrAreNoneAreRefused) {
  const auto with = [](const char* key, const char* value) {
    return Entries{{"location", "data.bin"}, {key, value}};
  };
  expect_refused(with("offset", "18446744073709551615"), {"offset 18446744073709551615"});
  expect_refused(with("offset", "18446744073709551608"), {"offset 18446744073709551608"});
  expect_refused(with("offset", "18446744073709551616"), {"no number of bytes"});
  expect_refused(with("offset", "-1"), {"'-1'", "no number of bytes"});
  expect_refused(with("offset", ""), {"no number of bytes"});
  expect_refused(with("offset", "4 "), {"no number of bytes"});
  expect_refused(with("offset", "0x4"), {"no number of bytes"});
  expect_refused(with("length", "20"), {"20 bytes", "need 16"});
  expect_refused(with("length", "18446744073709551615"), {"need 16"});
}

TEST_F(ExternalData, AModelInMemoryHasNone) {
  expect_error(
      [] {
        return import_graph(graph_of({NodeWriter("Op", {"x", "w"}, {"y"})})
                                .initializer(external_tensor("w", ElementType::f32, {1},
                                                             {{"location", "data.bin"}})));
      },
      ErrorKind::bad_input, {"'w'", "memory"});
}

}  // namespace
}  // namespace plimsoll::tensor::test
