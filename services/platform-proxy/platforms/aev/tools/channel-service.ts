import type { MessageInitShape } from "@bufbuild/protobuf";
import { type ChannelSchema, ChannelService } from "#proto/aev/v1/channel_service_pb.js";
import { shorten } from "../../../../shared/tools/shorten.js";
import { unary } from "../../../binding.js";
import { objectOf } from "../../../lib/answers.js";
import { given } from "../../../lib/fields.js";
import { timeOf } from "../../../lib/time.js";
import { writingBack } from "../../../lib/writing-back.js";
import { listPage, nameKey } from "../list.js";
import { tenantOf } from "../tenant.js";
import { CHANNEL, listedOf, wholeOf } from "../whole.js";

interface UpstreamChannel {
  readonly channel_id: string;
  readonly channel_name: string;
  readonly channel_type: string | null;
  readonly channel_description: string | null;
  readonly channel_mode: string | null;
  readonly channel_primary_color_dark: string | null;
  readonly channel_primary_color_light: string | null;
  readonly channel_secondary_color_dark: string | null;
  readonly channel_secondary_color_light: string | null;
  readonly channel_logo_dark: string | null;
  readonly channel_logo_light: string | null;
  readonly channel_updated_at: string;
}

const { listChannels, getChannel, createChannel, updateChannel, deleteChannel } = ChannelService.method;

/** How the tools of this service are answered. */
export const bindings = [
  unary(listChannels, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const page = await listPage<UpstreamChannel>(
      platform,
      tenant,
      {
        route: CHANNEL.route,
        whole: () => wholeOf(platform, tenant, CHANNEL),
        idKey: "channel_id",
        query: r.query,
        textsOf: (row) => [row.channel_name, row.channel_description],
        order: {
          sorts: [{ property: "channel_name", direction: "asc" }],
          keyOf: (row) => nameKey(row.channel_name),
        },
      },
      r,
    );
    const channels = page.rows.map((row) => ({
      id: row.channel_id,
      name: row.channel_name,
      type: row.channel_type ?? "",
      description: shorten(row.channel_description),
    }));
    return { channels, ...page.paging };
  }),

  unary(getChannel, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    return { channel: toChannel(await listedOf(platform, tenant, CHANNEL, r.channelId)) };
  }),

  unary(createChannel, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const created = await platform.rest({
      verb: "POST",
      path: tenant.path("/channels"),
      body: { channel_name: r.name.trim(), channel_type: r.type.trim(), channel_description: r.description.trim() },
    });
    return { channel: toChannel(objectOf(platform.server, created, "channel_id")) };
  }),

  writingBack(
    updateChannel,
    (r) => [r.channelId],
    async (r, platform) => {
      const tenant = await tenantOf(platform, r.tenantId);
      const before = await listedOf<UpstreamChannel>(platform, tenant, CHANNEL, r.channelId);
      const changed = await platform.rest({
        verb: "PUT",
        path: tenant.path(`/channels/${before.channel_id}`),
        body: {
          channel_name: r.name?.trim() ?? before.channel_name,
          channel_type: r.type?.trim() ?? before.channel_type,
          channel_description: r.description?.trim() ?? before.channel_description,
          channel_mode: r.mode ?? before.channel_mode,
          channel_primary_color_dark: before.channel_primary_color_dark,
          channel_primary_color_light: before.channel_primary_color_light,
          channel_secondary_color_dark: before.channel_secondary_color_dark,
          channel_secondary_color_light: before.channel_secondary_color_light,
        },
      });
      return { channel: toChannel(objectOf(platform.server, changed, "channel_id")) };
    },
  ),

  unary(deleteChannel, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const found = await listedOf<UpstreamChannel>(platform, tenant, CHANNEL, r.channelId);
    const { channel_id: id, channel_name: name } = found;
    await platform.rest<void>({ verb: "DELETE", path: tenant.path(`/channels/${id}`) });
    return { deleted: { id, name } };
  }),
];

function toChannel(row: UpstreamChannel): MessageInitShape<typeof ChannelSchema> {
  const present = (values: readonly (string | null)[]) => values.flatMap((value) => value ?? []);
  return {
    id: row.channel_id,
    name: row.channel_name,
    type: row.channel_type ?? "",
    description: row.channel_description ?? "",
    mode: row.channel_mode ?? "",
    colors: present([
      row.channel_primary_color_dark,
      row.channel_primary_color_light,
      row.channel_secondary_color_dark,
      row.channel_secondary_color_light,
    ]),
    logos: [...new Set(present([row.channel_logo_dark, row.channel_logo_light]))].map((id) => ({ id })),
    ...given({ updatedAt: timeOf(row.channel_updated_at) }),
  };
}
