import { useMutation, useQuery } from "@connectrpc/connect-query";
import { Unplug } from "lucide-react";
import { useState } from "react";
import { Switch } from "react-aria-components";
import { type Connection, ConnectionKind, ConnectionService } from "#api/auth/v1/connection_service_pb";
import { SessionService } from "#api/auth/v1/session_service_pb";
import { ago, exactly, onDay } from "../format";
import { reachOf } from "../scopes";
import { useCaller } from "../service/caller";
import { useRefresh } from "../service/refresh";
import { Button } from "../ui/button";
import { Confirm } from "../ui/confirm";
import { Dialog } from "../ui/dialog";
import { Empty, Failure, Skeleton } from "../ui/notice";
import { Pager, usePages } from "../ui/pager";
import { Cell, Column, Row, Table, TableBody, TableHeader } from "../ui/table";
import { tell } from "../ui/toasts";

const METHOD = ConnectionService.method.listConnections;

/** My Profile > Connections: what calls in the person's name; to administrators, in anybody's. */
export function Page() {
  const isAdmin = useCaller()?.admin === true;
  const [everybody, setEverybody] = useState(false);
  const pages = usePages();
  const [ending, setEnding] = useState<Connection>();
  const [isLeaving, setLeaving] = useState(false);
  const { data, error, isPending, refetch } = useQuery(METHOD, { everybody, pageSize: 25, pageToken: pages.token });
  const connections = data?.connections ?? [];
  return (
    <>
      <div className="head">
        <div>
          <h1>Connections</h1>
          <p>
            Every key and every client that may call in {everybody ? "somebody's" : "your"} name. A client names itself:
            nobody has verified it.
          </p>
        </div>
        <Button onPress={() => setLeaving(true)}>Sign out everywhere</Button>
      </div>
      {error ? (
        <Failure error={error} what="The connections" retry={() => void refetch()} />
      ) : isPending ? (
        <Skeleton what="the connections" />
      ) : (
        <>
          {isAdmin && (
            <Switch
              className="switch"
              isSelected={everybody}
              onChange={(on) => {
                setEverybody(on);
                pages.restart();
              }}
            >
              <span className="track" />
              Everybody's
            </Switch>
          )}
          {connections.length === 0 ? (
            <Empty icon={Unplug} title={`Nothing may call in ${everybody ? "anybody's" : "your"} name`}>
              Create an API key, or connect a client that signs in by itself: it appears here.
            </Empty>
          ) : (
            <ConnectionTable connections={connections} everybody={everybody} onEnd={setEnding} />
          )}
          <Pager pages={pages} nextToken={data.nextPageToken} />
        </>
      )}
      <Dialog isOpen={ending !== undefined} isAlert onClose={() => setEnding(undefined)}>
        {(close) => ending && <EndConnection connection={ending} close={close} />}
      </Dialog>
      <Dialog isOpen={isLeaving} isAlert onClose={() => setLeaving(false)}>
        {(close) => <SignOutEverywhere close={close} />}
      </Dialog>
    </>
  );
}

function ConnectionTable({
  connections,
  everybody,
  onEnd,
}: {
  connections: readonly Connection[];
  everybody: boolean;
  onEnd: (connection: Connection) => void;
}) {
  return (
    <div className="panel">
      <Table aria-label="Connections" className="table">
        <TableHeader>
          <Column>Name</Column>
          {everybody && <Column>Person</Column>}
          <Column>Kind</Column>
          <Column>Client</Column>
          <Column>May use</Column>
          <Column>Last used</Column>
          <Column>Ends</Column>
          <Column>
            <span className="sr">Actions</span>
          </Column>
        </TableHeader>
        <TableBody>
          {connections.map((one) => (
            <Row key={one.id}>
              <Cell isHeader>
                <b>{one.name}</b>
                {one.clientHost && <span className="faint"> {one.clientHost}</span>}
              </Cell>
              {everybody && <Cell>{one.userEmail || <span className="faint">A service account</span>}</Cell>}
              <Cell>{one.kind === ConnectionKind.GRANT ? "Signed in" : "API key"}</Cell>
              <Cell>{one.client || <span className="faint">Not known</span>}</Cell>
              <Cell>{reachInWords(one, everybody)}</Cell>
              <Cell>
                {one.lastUsedAt ? (
                  <time title={exactly(one.lastUsedAt)}>{ago(one.lastUsedAt)}</time>
                ) : (
                  <span className="faint">Never</span>
                )}
              </Cell>
              <Cell>{one.expiresAt ? onDay(one.expiresAt) : <span className="faint">Never</span>}</Cell>
              <Cell className="end">
                <Button look="quiet" onPress={() => onEnd(one)} aria-label={`End ${one.name}`}>
                  End
                </Button>
              </Cell>
            </Row>
          ))}
        </TableBody>
      </Table>
    </div>
  );
}

function reachInWords({ server, scopes }: Connection, everybody: boolean): string {
  if (scopes.length > 0) return reachOf(scopes);
  return server || (everybody ? "Everything of theirs" : "Everything of yours");
}

function EndConnection({ connection, close }: { connection: Connection; close: () => void }) {
  const refresh = useRefresh(METHOD);
  const { isPending, error, mutate } = useMutation(ConnectionService.method.endConnection, {
    onSuccess: () => {
      tell(`“${connection.name}” is ended`, "Its next request is refused.");
      close();
      return refresh();
    },
  });
  return (
    <Confirm
      title={`End “${connection.name}”?`}
      keep="Keep it"
      doIt="End connection"
      failed="The connection was not ended"
      work={{ isPending, error, run: () => mutate({ id: connection.id }) }}
      close={close}
    >
      <p>
        It calls in the name of {connection.userEmail || "a service account"}. It is refused from its next request on.
        Everything else keeps working. This cannot be undone.
      </p>
    </Confirm>
  );
}

function SignOutEverywhere({ close }: { close: () => void }) {
  const [connections, setConnections] = useState(false);
  const [apiKeys, setKeys] = useState(false);
  const { isPending, error, mutate } = useMutation(SessionService.method.signOutEverywhere, {
    onSuccess: () => location.reload(),
  });
  return (
    <Confirm
      title="Sign out everywhere?"
      keep="Cancel"
      doIt="Sign out everywhere"
      failed="You were not signed out"
      work={{ isPending, error, run: () => mutate({ connections, apiKeys }) }}
      close={close}
    >
      <p>Every browser in which you are signed in is signed out, this one too.</p>
      <Switch className="switch" isSelected={connections} onChange={setConnections}>
        <span className="track" />
        Also end clients that signed in
      </Switch>
      <Switch className="switch" isSelected={apiKeys} onChange={setKeys}>
        <span className="track" />
        Also revoke all your API keys
      </Switch>
    </Confirm>
  );
}
