import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type {
  ExportPersonalDataRequestSchema,
  ExportPersonalDataResponseSchema,
} from "#proto/auth/v1/personal_data_service_pb.js";
import { exportPage } from "../../shared/personal/export-page.js";
import type { Context } from "../context.js";
import { partsOf } from "./parts.js";

/** Shows an administrator what auth holds about a person. */
export async function exportPersonalData(
  { store }: Context,
  { userId, pageToken }: MessageShape<typeof ExportPersonalDataRequestSchema>,
): Promise<MessageInitShape<typeof ExportPersonalDataResponseSchema>> {
  const user = (await store.users.findOne({ _id: userId })) ?? undefined;
  return exportPage(partsOf(store, userId, user), pageToken);
}
