/** Messages between the process and the thread of the embedded database. */

/** PostgreSQL as it runs in this process, compiled. */
export type Programs = { postgres: WebAssembly.Module; initdb: WebAssembly.Module }

export type OpenOrder = {
  kind: 'open'
  directory: string
  socketPath: string
  programs: Programs
}

export type Order = OpenOrder | { kind: 'count_syncs' } | { kind: 'close' }

export type Report =
  | { kind: 'opened' }
  /** The database can no longer be trusted; every acknowledged write is safe in its log. */
  | { kind: 'failed'; reason: string }
  | { kind: 'sync_count'; count: number }
  | { kind: 'closed' }
