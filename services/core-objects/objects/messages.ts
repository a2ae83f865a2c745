import type { DescMethodUnary, Message } from "@bufbuild/protobuf";
import type { GenMessage } from "@bufbuild/protobuf/codegenv2";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { Reference } from "#proto/core/v1/reference_pb.js";
import type { Grant, Origin, Tier } from "#proto/core/v1/sharing_pb.js";
import type { PagedRequest } from "../../shared/rpc/page-token.js";
import type { Camel } from "./names.js";

// The messages of the standard methods, as far as they are the same for every
// kind. A kind's own messages must hold these members: the compiler compares.

/** An rpc whose request and response hold at least these members. */
export type Rpc<Request extends object, Response extends object> = DescMethodUnary<
  GenMessage<Message & Request>,
  GenMessage<Message & Response>
>;

/** The members that every object is shown with. */
export interface Shown {
  id: string;
  name: string;
  description: string;
  labels: string[];
  enabled: boolean;
  origin: Origin;
  owner?: Reference | undefined;
  sharing: Grant[];
  yourAccess: Tier;
  etag: string;
  createdAt?: Timestamp | undefined;
  updatedAt?: Timestamp | undefined;
}

/** `{agentId}`: a request about one object. */
export type Naming<Noun extends string> = { [member in `${Camel<Noun>}Id`]: string };

/** `{agent}`: a response that is one object. */
export type One<Noun extends string, View> = { [member in Camel<Noun>]?: View | undefined };

/** Which objects of those that the caller can read, and which page of them. */
export interface ListRequest extends PagedRequest {
  query: string;
  labels: string[];
  origin: Origin;
  pageSize?: number | undefined;
  pageToken: string;
}

/** `{agents, …}`: a page of objects. */
export type ListResponse<Plural extends string, View> = { [member in Camel<Plural>]: View[] } & {
  nextPageToken?: string | undefined;
  totalSize?: number | undefined;
};

/** A new object. */
export interface CreateRequest {
  name: string;
  description: string;
  labels: string[];
  enabled?: boolean | undefined;
  sharing: Grant[];
  companyManaged: boolean;
  requestId: string;
  /** Of a kind with parts. */
  shareParts?: boolean;
}

/** What is to change of an object, besides which it is; a member that is not given stays. */
export interface UpdateRequest {
  etag: string;
  description?: string | undefined;
  enabled?: boolean | undefined;
  addLabels: string[];
  removeLabels: string[];
  share: Grant[];
  unshare: string[];
  /** Of a kind with parts. */
  shareParts?: boolean;
}

/** Which object to delete, besides its id. */
export interface DeleteRequest {
  etag: string;
}

/** The object is gone. */
export interface DeleteResponse {
  /** The id it had. */
  id: string;
}
