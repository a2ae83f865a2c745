import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import {
  AddPlatformRequestSchema,
  ConnectionState,
  type Platform,
  SettingService,
} from "#api/catalogue/v1/setting_service_pb";
import { ago } from "../format";
import { useRefresh } from "../service/refresh";
import { StatusBadge } from "../ui/badge";
import { Button } from "../ui/button";
import { Confirm } from "../ui/confirm";
import { Dialog } from "../ui/dialog";
import { MessageForm } from "../ui/message-form";
import { Failure, Skeleton } from "../ui/notice";
import { Cell, Column, Row, Table, TableBody, TableHeader } from "../ui/table";
import { tell } from "../ui/toasts";

const { listPlatforms, addPlatform, selectPlatform, forgetPlatform } = SettingService.method;
const LOOKED_MS = 15_000;

/** What an administrator is asked before it is done. */
type Asked = { readonly platform: Platform; readonly what: "select" | "forget" };

/** The platforms that are registered: which one of a server serves, one more, one less. */
export function Platforms() {
  const { data, error, isPending, refetch } = useQuery(listPlatforms, {}, { refetchInterval: LOOKED_MS });
  const [isAdding, setAdding] = useState(false);
  const [asked, setAsked] = useState<Asked>();
  if (error) return <Failure error={error} what="The platforms" retry={() => void refetch()} />;
  if (isPending) return <Skeleton what="the platforms" />;
  return (
    <section className="panel" aria-labelledby="platforms">
      <div className="panel-bar">
        <h2 id="platforms">Platforms</h2>
        <Button onPress={() => setAdding(true)}>Register a platform</Button>
      </div>
      <Table aria-labelledby="platforms" className="table">
        <TableHeader>
          <Column>Server</Column>
          <Column>Platform</Column>
          <Column>Address</Column>
          <Column>Status</Column>
          <Column>Heard of</Column>
          <Column>
            <span className="sr">Actions</span>
          </Column>
        </TableHeader>
        <TableBody>
          {data.platforms.map((one) => (
            <PlatformRow key={`${one.server} ${one.id}`} platform={one} onAsked={setAsked} />
          ))}
        </TableBody>
      </Table>
      <Dialog isOpen={isAdding} onClose={() => setAdding(false)}>
        {(close) => <AddPlatform close={close} />}
      </Dialog>
      <Dialog isOpen={asked !== undefined} isAlert onClose={() => setAsked(undefined)}>
        {(close) =>
          asked &&
          (asked.what === "select" ? (
            <SelectPlatform platform={asked.platform} close={close} />
          ) : (
            <ForgetPlatform platform={asked.platform} close={close} />
          ))
        }
      </Dialog>
    </section>
  );
}

const STATE: Readonly<Partial<Record<ConnectionState, "connected" | "registered">>> = {
  [ConnectionState.CONNECTED]: "connected",
  [ConnectionState.REGISTERED]: "registered",
};

function PlatformRow({ platform, onAsked }: { platform: Platform; onAsked: (asked: Asked) => void }) {
  const { server, id, serves, title, version, url, state, lastSeenAt, configured } = platform;
  const name = nameOf(platform);
  return (
    <Row>
      <Cell isHeader>
        <b>{server}</b>
        {serves && <span className="tag">Serves</span>}
        {configured && <span className="tag">Configured</span>}
      </Cell>
      <Cell>
        {title || <span className="faint">None is registered</span>} {version}
      </Cell>
      <Cell>{url && <code>{url}</code>}</Cell>
      <Cell>
        <StatusBadge status={STATE[state] ?? "absent"} />
      </Cell>
      <Cell>{lastSeenAt ? ago(lastSeenAt) : <span className="faint">Never</span>}</Cell>
      <Cell className="end">
        {id !== "" && !serves && (
          <Button
            look="quiet"
            onPress={() => onAsked({ platform, what: "select" })}
            aria-label={`Serve ${server} from ${name}`}
          >
            Serve
          </Button>
        )}
        {id !== "" && !configured && (
          <Button look="quiet" onPress={() => onAsked({ platform, what: "forget" })} aria-label={`Forget ${name}`}>
            Forget
          </Button>
        )}
      </Cell>
    </Row>
  );
}

function nameOf({ title, url }: Platform): string {
  return title || url;
}

function AddPlatform({ close }: { close: () => void }) {
  const refresh = useRefresh(listPlatforms);
  const { isPending, error, mutate } = useMutation(addPlatform, {
    onSuccess: ({ platform }) => {
      tell("The platform is registered", platform?.serves ? "It serves now." : "Another one serves: choose Serve.");
      close();
      return refresh();
    },
  });
  return (
    <MessageForm
      schema={AddPlatformRequestSchema}
      fields={FIELDS}
      initial={{ server: "cti" }}
      title="Register a platform"
      submit="Register"
      failed="The platform was not registered"
      work={{
        isPending,
        error,
        run: ({ publicUrl, ...values }) => mutate({ ...values, ...(publicUrl && { publicUrl: String(publicUrl) }) }),
      }}
      close={close}
    />
  );
}

const FIELDS = {
  title: { label: "Title", help: "For people, such as OpenCTI in Paris.", isRequired: true },
  url: { label: "Address", help: "The URL at which the service calls it.", isRequired: true },
  publicUrl: { label: "Public address", help: "What the platform calls itself, if that is another URL." },
  server: { label: "Server", choices: ["cti", "aev", "grc"].map((id) => ({ id, name: id })) },
};

function SelectPlatform({ platform, close }: { platform: Platform; close: () => void }) {
  const refresh = useRefresh(listPlatforms);
  const { isPending, error, mutate } = useMutation(selectPlatform, {
    onSuccess: () => {
      tell(`“${nameOf(platform)}” serves ${platform.server}`, "Every process applies it now.");
      close();
      return refresh();
    },
  });
  return (
    <Confirm
      title={`Serve ${platform.server} from “${nameOf(platform)}”?`}
      keep="Keep the present one"
      doIt="Serve"
      failed="The platform was not changed"
      work={{ isPending, error, run: () => mutate({ id: platform.id }) }}
      close={close}
    >
      <p>
        Clients of {platform.server} read and write on this platform from their next request on. The present one stays
        registered.
      </p>
    </Confirm>
  );
}

function ForgetPlatform({ platform, close }: { platform: Platform; close: () => void }) {
  const refresh = useRefresh(listPlatforms, SettingService.method.listRegistrationTokens);
  const { isPending, error, mutate } = useMutation(forgetPlatform, {
    onSuccess: () => {
      tell(`“${nameOf(platform)}” is forgotten`);
      close();
      return refresh();
    },
  });
  return (
    <Confirm
      title={`Forget “${nameOf(platform)}”?`}
      keep="Keep it"
      doIt="Forget platform"
      failed="The platform was not forgotten"
      work={{ isPending, error, run: () => mutate({ id: platform.id }) }}
      close={close}
    >
      <p>
        {platform.serves && `Clients of ${platform.server} get 404 until another platform serves. `}
        What it holds is not touched. It can register again with a new token.
      </p>
    </Confirm>
  );
}
