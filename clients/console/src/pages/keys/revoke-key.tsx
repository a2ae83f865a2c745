import { useMutation } from "@connectrpc/connect-query";
import { type ApiKey, ApiKeyService } from "#api/auth/v1/api_key_service_pb";
import { useRefresh } from "../../service/refresh";
import { Confirm } from "../../ui/confirm";
import { tell } from "../../ui/toasts";

/** Asks before a key is revoked, and says what stops. */
export function RevokeKey({ apiKey, close }: { apiKey: ApiKey; close: () => void }) {
  const refresh = useRefresh(ApiKeyService.method.listApiKeys);
  const { isPending, error, mutate } = useMutation(ApiKeyService.method.revokeApiKey, {
    onSuccess: ({ schedules }) => {
      const names = schedules.map(({ name, id }) => name || id).join(", ");
      const stopped = names === "" ? "" : ` These schedules stop until you enable them again: ${names}.`;
      tell(`“${apiKey.name}” is revoked`, `Its next request is refused.${stopped}`);
      close();
      return refresh();
    },
  });
  return (
    <Confirm
      title={`Revoke “${apiKey.name}”?`}
      keep="Keep it"
      doIt="Revoke key"
      failed="The key was not revoked"
      work={{ isPending, error, run: () => mutate({ id: apiKey.id }) }}
      close={close}
    >
      <p>
        Every client that uses it is refused from its next request on. Your other keys keep working. This cannot be
        undone.
      </p>
    </Confirm>
  );
}
