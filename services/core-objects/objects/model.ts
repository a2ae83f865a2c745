import type { DescMessage } from "@bufbuild/protobuf";
import type { Reference } from "#proto/core/v1/reference_pb.js";
import type { ObjectRecord } from "../record.js";
import type { Reseal } from "./secrets.js";

/** Shows what a field of a record refers to: by the field's name, from an id. */
export type Refer = Readonly<Record<string, (id: string) => Pick<Reference, "id"> & { name?: string }>>;

/** What the standard methods need of a kind's definition, its types aside. */
export interface Model {
  readonly noun: string;
  readonly plural: string;
  /** The message that shows one. */
  readonly message: DescMessage;
  /** The members of the message that the kind adds. */
  readonly view: (record: ObjectRecord, refer: Refer) => object;
  readonly references: Readonly<Record<string, string>>;
  /** How what is secret of one is sealed again. */
  readonly reseal?: Reseal<ObjectRecord> | undefined;
  /** Whether a change has what it refers to used elsewhere: who makes it must see all of that. */
  readonly leadsElsewhere?: ((before: ObjectRecord, after: ObjectRecord) => boolean) | undefined;
  /** How many items a field holds at most. */
  readonly limits: Readonly<Record<string, number>>;
}
