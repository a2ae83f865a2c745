// npm run generate: of the source info of proto/gen/api.binpb, only comments are read at run time. The places of
// everything in its file are five sixths of it, and each process would read them at its start.

import { readFileSync, writeFileSync } from "node:fs";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema, type SourceCodeInfo_Location } from "@bufbuild/protobuf/wkt";
import { API_IMAGE } from "../services/shared/tools/image.js";

const set = fromBinary(FileDescriptorSetSchema, readFileSync(API_IMAGE));
for (const { sourceCodeInfo } of set.file) {
  if (sourceCodeInfo === undefined) continue;
  sourceCodeInfo.location = sourceCodeInfo.location.filter(isCommented);
  for (const location of sourceCodeInfo.location) location.span = [];
}
writeFileSync(API_IMAGE, toBinary(FileDescriptorSetSchema, set));

function isCommented({ leadingComments, trailingComments, leadingDetachedComments }: SourceCodeInfo_Location): boolean {
  return leadingComments !== "" || trailingComments !== "" || leadingDetachedComments.length > 0;
}
