import { readFileSync } from "node:fs";
import { createFileRegistry, type FileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema, type SourceCodeInfo_Location } from "@bufbuild/protobuf/wkt";

/** The image of the whole API that `buf build` writes, with source info: beside the generated code. */
export const API_IMAGE = new URL("../../../proto/gen/api.binpb", import.meta.url);

let api: FileRegistry | undefined;

/**
 * Reads an image. The façade, the catalogue and reflection all read the API, which a process reads once.
 *
 * Of the source info only what holds a comment is kept: the positions of
 * everything else are five sixths of it, and half of the memory of an image.
 */
export function readImage(image: string | URL = API_IMAGE): FileRegistry {
  if (image !== API_IMAGE) return parseImage(image);
  api ??= parseImage(image);
  return api;
}

function parseImage(image: string | URL): FileRegistry {
  const set = fromBinary(FileDescriptorSetSchema, readFileSync(image));
  for (const { sourceCodeInfo } of set.file) {
    if (sourceCodeInfo !== undefined) sourceCodeInfo.location = sourceCodeInfo.location.filter(isCommented);
  }
  return createFileRegistry(set);
}

function isCommented(location: SourceCodeInfo_Location): boolean {
  const { leadingComments, trailingComments, leadingDetachedComments } = location;
  return leadingComments !== "" || trailingComments !== "" || leadingDetachedComments.length > 0;
}
