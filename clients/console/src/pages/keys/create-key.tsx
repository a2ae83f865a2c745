import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { useMutation } from "@connectrpc/connect-query";
import type { FormEvent } from "react";
import {
  Checkbox,
  CheckboxGroup,
  FieldError,
  Form,
  Heading,
  Input,
  Label,
  Switch,
  TextField,
} from "react-aria-components";
import { ApiKeyService } from "#api/auth/v1/api_key_service_pb";
import { useDraft } from "../../drafts";
import { useCaller } from "../../service/caller";
import { useRefresh } from "../../service/refresh";
import { writeSentenceOf } from "../../service/transport";
import { Button } from "../../ui/button";
import { Choice } from "../../ui/choice";
import { CopyButton } from "../../ui/copy";
import { Notice } from "../../ui/notice";

const EXPIRY = [
  { id: "30", name: "In 30 days" },
  { id: "90", name: "In 90 days" },
  { id: "365", name: "In a year" },
  { id: "0", name: "Never" },
];
const DAY_MS = 86_400_000;

/** What the form has at first. */
type NewKey = {
  readonly name: string;
  readonly days: string;
  readonly servers: readonly string[];
  readonly isReadOnly: boolean;
};
const FIRST: NewKey = { name: "", days: "90", servers: [], isReadOnly: false };

/** A form for a new key; then the key, which is shown this once. */
export function CreateKey({ close, onMade }: { close: () => void; onMade: () => void }) {
  const refresh = useRefresh(ApiKeyService.method.listApiKeys);
  const caller = useCaller();
  const [{ name, days, servers, isReadOnly }, change] = useDraft("new key", FIRST);
  const reachable = [...new Set(caller?.scopes.filter((scope) => /:read$/.test(scope)).map((one) => one.slice(0, -5)))];
  const create = useMutation(ApiKeyService.method.createApiKey, {
    onSuccess: () => {
      onMade();
      return refresh();
    },
  });

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const expiresAt = days === "0" ? undefined : timestampFromDate(new Date(Date.now() + Number(days) * DAY_MS));
    const chosen = servers.length === 0 && isReadOnly ? reachable : servers;
    const held = new Set(caller?.scopes);
    const scopes = chosen
      .flatMap((server) => (isReadOnly ? [`${server}:read`] : [`${server}:read`, `${server}:write`]))
      .filter((scope) => held.has(scope));
    create.mutate({ name: name.trim(), expiresAt, scopes });
  }

  if (create.data) return <ShownOnce token={create.data.token} close={close} />;
  return (
    <Form onSubmit={submit}>
      <Heading slot="title">New API key</Heading>
      <p>One key for each client: revoking it then cuts off that client and nothing else.</p>
      <TextField
        name="name"
        isRequired
        maxLength={100}
        autoFocus
        value={name}
        onChange={(text) => change({ name: text })}
      >
        <Label>Name</Label>
        <Input placeholder="Claude Code on my laptop" />
        <FieldError>Give the key a name, so that you know later what uses it.</FieldError>
      </TextField>
      <Choice label="Expires" value={days} items={EXPIRY} onChange={(id) => change({ days: id })} />
      <CheckboxGroup value={[...servers]} onChange={(chosen) => change({ servers: chosen })} className="checks">
        <Label>Servers (all of yours if none is chosen)</Label>
        <div>
          {reachable.map((server) => (
            <Checkbox key={server} value={server} className="check">
              <span className="box" />
              {server}
            </Checkbox>
          ))}
        </div>
      </CheckboxGroup>
      <Switch className="switch" isSelected={isReadOnly} onChange={(on) => change({ isReadOnly: on })}>
        <span className="track" />
        It may only read
      </Switch>
      {create.error && (
        <Notice tone="error" title="The key was not created">
          {writeSentenceOf(create.error)}
        </Notice>
      )}
      <div className="actions">
        <Button onPress={close}>Cancel</Button>
        <Button look="primary" type="submit" isPending={create.isPending}>
          Create key
        </Button>
      </div>
    </Form>
  );
}

function ShownOnce({ token, close }: { token: string; close: () => void }) {
  return (
    <>
      <Heading slot="title">Copy your key now</Heading>
      <p>This is the only time that it is shown. The service keeps a hash of it, not the key.</p>
      <div className="secret">
        <code>{token}</code>
        <CopyButton text={token} what="API key" />
      </div>
      <Notice title="Anyone with this key acts as you">
        Keep it in a password manager or an environment variable, not in a repository.
      </Notice>
      <div className="actions">
        <Button look="primary" onPress={close} autoFocus>
          I have saved it
        </Button>
      </div>
    </>
  );
}
