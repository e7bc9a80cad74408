import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import java.util.List;

/** MongoDB's wire in memory: prints the port it listens on, ends with its standard input. */
class MongoServer {

    /** PyMongo refuses a server older than 4.2, which this one says it is unless told otherwise. */
    record Version(List<Integer> getVersionArray, int getWireVersion) implements MongoVersion {}

    public static void main(String[] args) throws Exception {
        // Replies are encoded from live documents: with a second event loop they change meanwhile.
        System.setProperty("io.netty.eventLoopThreads", "1");
        var backend = new MemoryBackend().version(new Version(List.of(5, 0, 0), 13));
        var server = new de.bwaldvogel.mongo.MongoServer(backend);
        System.out.println(server.bind().getPort());
        while (System.in.read() != -1) {}
        System.exit(0);
    }
}
