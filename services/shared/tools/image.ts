import { readFileSync } from "node:fs";
import { createFileRegistry, type FileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";

/** The image of the whole API, with its comments: beside the generated code. */
export const API_IMAGE = new URL("../../../proto/gen/api.binpb", import.meta.url);

let api: FileRegistry | undefined;

/** Reads an image. The façade, the catalogue and reflection all read the API, which a process reads once. */
export function readImage(image: string | URL = API_IMAGE): FileRegistry {
  if (image !== API_IMAGE) return parseImage(image);
  api ??= parseImage(image);
  return api;
}

function parseImage(image: string | URL): FileRegistry {
  return createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync(image)));
}
