import { fromBinary } from "@bufbuild/protobuf";
import { ResourceSchema } from "#proto/opentelemetry/proto/resource/v1/resource_pb.js";
import { keptOf } from "./attributes.js";
import { NO_RANK, SLOTS, tellingsOf } from "./fact-keys.js";
import { previewOf } from "./preview.js";
import { MAX_KEY, MAX_NAME } from "./span.js";

/** The attribute of a resource by which our own services name the user whose run the spans are of. */
const RUN_OWNER = "sallyport.run.owner";

/** What an export says of where spans are from, read once for all of them. */
export interface ReadResource {
  readonly bytes: Uint8Array;
  /** Its attributes. */
  readonly fields: number;
  readonly hasLongKey: boolean;
  /** What they tell, where a span does not: by slot. */
  readonly ranks: Int32Array;
  readonly texts: readonly (string | undefined)[];
  readonly source: string;
  readonly owner: string | undefined;
}

/** Reads a resource. */
export function readResource(bytes: Uint8Array): ReadResource {
  const { attributes } = fromBinary(ResourceSchema, bytes);
  const ranks = new Int32Array(SLOTS.length).fill(NO_RANK);
  const texts: (string | undefined)[] = SLOTS.map(() => undefined);
  for (const { key, value } of attributes) {
    for (const { slot, rank } of tellingsOf(key)) {
      if (rank >= (ranks[slot] as number)) continue;
      ranks[slot] = rank;
      texts[slot] = keptOf(value).text;
    }
  }
  const first = (name: string) => attributes.find(({ key }) => key === name)?.value;
  const owner = first(RUN_OWNER)?.value;
  return {
    ...{ bytes, fields: attributes.length, ranks, texts },
    hasLongKey: attributes.some(({ key }) => key.length > MAX_KEY),
    source: previewOf(keptOf(first("service.name")).text, MAX_NAME),
    owner: owner?.case === "stringValue" ? owner.value : undefined,
  };
}
