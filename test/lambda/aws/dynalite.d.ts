declare module 'dynalite' {
  import type { Server } from 'node:http';
  /** An HTTP server that speaks DynamoDB's protocol; in memory if no path is given. */
  export default function dynalite(options?: { createTableMs?: number }): Server;
}
