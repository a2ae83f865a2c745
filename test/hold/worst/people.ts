import type { DescMethod, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { GroupService } from "#proto/auth/v1/group_service_pb.js";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import { SettingService } from "#proto/catalogue/v1/setting_service_pb.js";
import type { Doors } from "./doors.js";
import type { Known } from "./plain.js";

const GROUP = GroupService.method.createGroup;
const KEY = ApiKeyService.method.createApiKey;
const TOKEN = SettingService.method.createRegistrationToken;
const PLATFORM = SettingService.method.addPlatform;
const USER = UserService.method.createUser;

/** What each rpc of people is about, where it is about something: the rpc that makes one, and the member of its answer. */
const ABOUT: Readonly<Record<string, readonly [DescMethod, string]>> = {
  UpdateApiKey: [KEY, "key"],
  UpdateGroup: [GROUP, "group"],
  DeleteGroup: [GROUP, "group"],
  GetUser: [USER, "user"],
  SelectPlatform: [PLATFORM, "platform"],
  MovePlatform: [PLATFORM, "platform"],
  ForgetPlatform: [PLATFORM, "platform"],
  RevokeRegistrationToken: [TOKEN, ""],
};

/** Makes what the rpcs of people are about, for each anew: some end what they are given. */
export class Subjects {
  private made = 0;

  constructor(private readonly doors: Doors) {}

  /** What is known of an rpc's arguments. */
  async of({ name }: DescMethod): Promise<Known> {
    const about = ABOUT[name];
    if (about === undefined) return () => undefined;
    const [maker, member] = about;
    const args = this.argumentsOf(maker);
    const { result } = await this.doors.rpc("rpc", maker)(args);
    const one = (member === "" ? result : (result as Record<string, unknown> | undefined)?.[member]) as
      | { readonly id: string }
      | undefined;
    const known: Readonly<Record<string, JsonValue | undefined>> = { id: one?.id, from_url: args.url };
    return (field) => known[field.name];
  }

  private argumentsOf(maker: DescMethod): JsonObject {
    const name = `worst${this.made++}`;
    if (maker === USER) return { email: `${name}@example.org`, name };
    if (maker === PLATFORM) return { server: "grc", url: `https://${name}.example.org/` };
    if (maker === TOKEN) return { name, server: "grc" };
    return { name };
  }
}
