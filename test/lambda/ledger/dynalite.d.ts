declare module 'dynalite' {
  import type { Server } from 'node:http';
  /** An HTTP server that speaks DynamoDB; in memory without a path. */
  export default function dynalite(options?: { createTableMs?: number }): Server;
}
