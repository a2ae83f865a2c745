import { readFileSync } from "node:fs";
import { createFileRegistry, type FileRegistry, fromBinary } from "@bufbuild/protobuf";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";

/** The image of the whole API, with its comments: beside the generated code. */
export const API_IMAGE = new URL("../../../proto/gen/api.binpb", import.meta.url);

let api: FileRegistry | undefined;

/** Reads an image. The façade, the catalogue and reflection all read the API, which a process reads once. */
export function readImage(image: string | URL = API_IMAGE): FileRegistry {
  if (image !== API_IMAGE) return parseImage(image);
  api ??= parseImage(image);
  return api;
}

/**
 * The files of the API by name, as bytes that stand in its image already. To write one from its descriptor takes
 * milliseconds, and for an answer of reflection ten are needed.
 */
export function readFiles(): ReadonlyMap<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  const reader = new BinaryReader(readFileSync(API_IMAGE));
  while (reader.pos < reader.len) {
    const [no, wireType] = reader.tag();
    if (no !== FILE) reader.skip(wireType);
    else {
      const file = reader.bytes();
      files.set(nameIn(file), file);
    }
  }
  return files;
}

const FILE = FileDescriptorSetSchema.field.file.number;
const NAME = FileDescriptorProtoSchema.field.name.number;

function nameIn(file: Uint8Array): string {
  const reader = new BinaryReader(file);
  for (;;) {
    const [no, wireType] = reader.tag();
    if (no === NAME) return reader.string();
    reader.skip(wireType);
  }
}

function parseImage(image: string | URL): FileRegistry {
  return createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync(image)));
}
