import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type {
  ExportPersonalDataRequestSchema,
  ExportPersonalDataResponseSchema,
} from "#proto/traces/v1/personal_data_service_pb.js";
import { exportPage } from "../../shared/personal/export-page.js";
import type { Context } from "../context.js";
import { partsOf } from "./parts.js";

/** Shows an administrator what the traces service holds about a person. */
export function exportPersonalData(
  { store }: Context,
  { userId, pageToken }: MessageShape<typeof ExportPersonalDataRequestSchema>,
): Promise<MessageInitShape<typeof ExportPersonalDataResponseSchema>> {
  return exportPage(partsOf(store, userId), pageToken);
}
