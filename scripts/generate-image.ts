// npm run generate: of the source info of proto/gen/api.binpb, only what holds a comment is read at run time, by us and by
// clients of reflection. The places of everything else are five sixths of it, and each process would read them at its start.

import { readFileSync, writeFileSync } from "node:fs";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema, type SourceCodeInfo_Location } from "@bufbuild/protobuf/wkt";
import { API_IMAGE } from "../services/shared/tools/image.js";

const set = fromBinary(FileDescriptorSetSchema, readFileSync(API_IMAGE));
for (const { sourceCodeInfo } of set.file) {
  if (sourceCodeInfo === undefined) continue;
  sourceCodeInfo.location = sourceCodeInfo.location.filter(isCommented);
}
writeFileSync(API_IMAGE, toBinary(FileDescriptorSetSchema, set));

function isCommented({ leadingComments, trailingComments, leadingDetachedComments }: SourceCodeInfo_Location): boolean {
  return leadingComments !== "" || trailingComments !== "" || leadingDetachedComments.length > 0;
}
