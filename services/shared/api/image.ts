import { readFileSync } from "node:fs";
import { createFileRegistry, type FileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";

/** The image of the whole API that `buf build` writes, with source info: beside the generated code. */
export const API_IMAGE = new URL("../../../proto/gen/api.binpb", import.meta.url);

/** Reads an image. The façade, the catalogue and reflection all read the same one. */
export function readImage(image: string | URL = API_IMAGE): FileRegistry {
  return createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync(image)));
}
