import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import java.util.List;

/** An in-memory server that speaks MongoDB's protocol, on a free port, until its standard input ends. */
public class Server {
  /** The library's own versions stop at wire version 8; the driver asks for 9 and up. */
  static final MongoVersion FIVE =
      new MongoVersion() {
        public List<Integer> getVersionArray() {
          return List.of(5, 0, 0, 0);
        }

        public int getWireVersion() {
          return 13;
        }
      };

  public static void main(String[] args) throws Exception {
    var backend = new MemoryBackend();
    backend.version(FIVE);
    var server = new MongoServer(backend);
    server.bind("127.0.0.1", 0);
    System.out.println(server.getConnectionString());
    while (System.in.read() != -1) {}
    server.shutdownNow();
  }
}
