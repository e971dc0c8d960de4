/** nginx as a reverse proxy to the upstream: one worker, plain HTTP in front, TLS 1.3 behind. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Names } from './names.ts'
import { freePort, startProcess } from './processes.ts'

type Upstream = { host: string; port: number; caFile: string }

export type Nginx = { pid: number; origin: string; stop(): Promise<void> }

/** @throws Error if nginx is not installed */
export async function startNginx(
  directory: string,
  upstream: Upstream,
  { within }: Names,
): Promise<Nginx> {
  const program = Bun.which('nginx', { PATH: `${process.env.PATH}:/usr/sbin` })
  if (!program) throw new Error('nginx is not installed')
  const home = join(directory, 'nginx')
  mkdirSync(home, { recursive: true })
  const port = freePort()
  const file = join(home, 'nginx.conf')
  writeFileSync(file, configOf(home, port, upstream))
  const command = [program, '-p', home, '-c', file, '-e', 'stderr']
  const { pid, stop } = await startProcess(within(command), {})
  const origin = `http://127.0.0.1:${port}`
  await untilAnswered(origin)
  return { pid, origin, stop }
}

/** Without a master the one process is the worker, so its CPU time is the whole. */
function configOf(
  home: string,
  port: number,
  { host, port: upstreamPort, caFile }: Upstream,
): string {
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  const directories = kinds.map((kind) => `${kind}_temp_path ${home}/${kind};`).join('\n  ')
  return `daemon off;
master_process off;
pid ${home}/nginx.pid;
error_log stderr crit;
events { worker_connections 4096; }
http {
  access_log off;
  ${directories}
  keepalive_requests 100000000;
  upstream api {
    server ${host}:${upstreamPort};
    keepalive 512;
    keepalive_requests 100000000;
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass https://api;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host ${host}:${upstreamPort};
      proxy_ssl_protocols TLSv1.3;
      proxy_ssl_server_name on;
      proxy_ssl_name ${host};
      proxy_ssl_verify on;
      proxy_ssl_trusted_certificate ${caFile};
    }
  }
}
`
}

async function untilAnswered(origin: string): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    try {
      await fetch(origin)
      return
    } catch {
      await Bun.sleep(50)
    }
  }
  throw new Error('nginx did not start within 5 s')
}
