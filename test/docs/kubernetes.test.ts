// tier: all
/**
 * Executes the commands of docs/guides/kubernetes.md. Scripts replace programs that need a daemon or a cluster:
 * `docker` keeps names of images, `kubectl` keeps Secrets as folders, and `helm` renders the chart with Helm's code.
 */
import { expect } from 'bun:test'
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { readConfig } from '../../src/core/config/config.ts'
import { type Chart, objectsOf, openChart } from '../deploy/chart.ts'
import { BUILD_MS, kubernetesProgram } from '../deploy/go_programs.ts'
import { MAIN } from '../operator/backup/support.ts'
import { requires } from '../support/requires.ts'
import { watched } from '../support/watched.ts'
import { scriptOf } from './blocks.ts'
import { ROOT } from './documents.ts'

const { afterAll, beforeAll, test } = requires('go')

const PAGE = [
  scriptOf('docs/guides/kubernetes.md', 'image'),
  scriptOf('docs/guides/kubernetes.md', 'secrets'),
  scriptOf('docs/guides/kubernetes.md', 'install'),
  scriptOf('docs/guides/kubernetes.md', 'ingress'),
].join('')

const PROGRAMS: Record<string, string> = {
  cloakroom: `exec ${process.execPath} --no-env-file ${MAIN} "$@"`,
  docker: `case "$1 $2" in
    'build -t') [ -f "$4/Dockerfile" ]; echo "$3" >>"$state/images" ;;
    push*) grep -qxF "$2" "$state/images"; echo "$2" >>"$state/registry" ;;
    *) exit 1 ;;
  esac`,
  kubectl: `[ "$1 $2 $3" = 'create secret generic' ]
  secret=$state/secrets/$4; shift 4
  mkdir "$secret"
  for option; do
    case $option in
      --from-file=*=*) file=\${option#*=}; cp "\${file#*=}" "$secret/\${file%%=*}" ;;
      --from-file=*) cp "\${option#*=}"/* "$secret" ;;
      *) exit 1 ;;
    esac
  done`,
  helm: `verb=$1 chart=$3; shift 3
  case $verb in install) sets=() ;; upgrade) [ "$1" = --reuse-values ]; mapfile -t sets <"$state/sets"; shift ;; esac
  while [ $# -gt 0 ]; do [ "$1" = --set ]; sets+=("$2"); shift 2; done
  printf '%s\\n' "\${sets[@]}" >"$state/sets"
  "$kubernetes" render "$chart" /dev/null "\${sets[@]}" >"$state/$verb.yaml"`,
}

let chart: Chart
let state = ''
const kept = (name: string) => readFileSync(join(state, name), 'utf8')

beforeAll(async () => {
  chart = await openChart()
  state = join(chart.place, 'state')
  const bin = join(chart.place, 'bin')
  const clone = join(chart.place, 'clone')
  for (const folder of [bin, clone, join(state, 'secrets')]) mkdirSync(folder, { recursive: true })
  for (const [name, script] of Object.entries(PROGRAMS)) {
    writeFileSync(join(bin, name), `#!/bin/bash\nset -eu\n${script}\n`)
    chmodSync(join(bin, name), 0o755)
  }
  for (const name of ['Dockerfile', 'docs']) symlinkSync(join(ROOT, name), join(clone, name))
  for (const role of ['owner', 'resolver'])
    writeFileSync(join(clone, `${role}_password`), `the ${role}'s password\n`)
  const PATH = `${bin}:${process.env.PATH}`
  const env = { PATH, HOME: chart.place, state, kubernetes: await kubernetesProgram() }
  const child = watched(
    Bun.spawnSync(['bash', '-euo', 'pipefail', '-c', PAGE], { cwd: clone, env }),
  )
  expect(`${child.stderr}`).toBe('')
  expect(child.exitCode).toBe(0)
}, BUILD_MS)
afterAll(() => chart.remove())

const secret = z.object({ secretName: z.string() })
const deployment = z.object({
  spec: z.object({
    template: z.object({
      spec: z.object({
        containers: z.tuple([
          z.object({
            image: z.string(),
            env: z.array(z.object({ name: z.string(), value: z.string() })),
          }),
        ]),
        volumes: z.array(z.object({ name: z.string(), secret: secret.optional() })),
      }),
    }),
  }),
})
const podOf = (role: string) =>
  deployment.parse(objectsOf(kept('install.yaml'))[`Deployment cloakroom-${role}`]).spec.template
    .spec

/** The variables of a role's pods, whose files are those of the Secrets that `kubectl` keeps. */
function settingsOf(role: string): Record<string, string> {
  const { containers, volumes } = podOf(role)
  const withFiles = ({ name, value }: { name: string; value: string }) => {
    const [, volume, key = ''] = /^\/run\/secrets\/(.+)\/(.+)$/.exec(value) ?? []
    const mounted = volumes.find((each) => each.name === volume)?.secret
    return [name, mounted ? join(state, 'secrets', mounted.secretName, key) : value]
  }
  return Object.fromEntries(containers[0].env.map(withFiles))
}

test.each([
  ['control-plane', "the owner's password"],
  ['resolver', "the resolver's password"],
])(
  'the commands give %s its settings, its Secrets and an image of the registry',
  (role, password) => {
    const config = readConfig(settingsOf(role), () => {
      throw new Error('production makes no keys for itself')
    })
    expect(config).toMatchObject({
      ROLE: role,
      ALLOWED_HOSTS: [role === 'resolver' ? 'resolver.example.com' : 'vault.example.com'],
      DB_HOST: 'postgresql.database.svc',
      DB_PASSWORD: password,
    })
    expect(settingsOf(role).TRUSTED_PROXIES).toBe('10.0.0.0/8')
    expect(kept('registry')).toBe(`${podOf(role).containers[0].image}\n`)
  },
)

test('the upgrade adds an Ingress for each host, and keeps everything else', async () => {
  for (const name of ['install.yaml', 'upgrade.yaml'])
    expect(await chart.check(kept(name))).toEqual({ out: '', error: '', code: 0 })
  const {
    'Ingress cloakroom-control-plane': vault,
    'Ingress cloakroom-resolver': resolver,
    ...rest
  } = objectsOf(kept('upgrade.yaml'))
  expect(rest).toEqual(objectsOf(kept('install.yaml')))
  expect([vault, resolver]).toMatchObject([
    { spec: { rules: [{ host: 'vault.example.com' }] } },
    { spec: { rules: [{ host: 'resolver.example.com' }] } },
  ])
})
