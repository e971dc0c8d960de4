/**
 * The chart in Helm's rendering, read the way Kubernetes does, by the program of kubernetes/main.go; files mounted
 * the way a kubelet does.
 */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { generateKeys } from '../../src/operator/own_keys.ts'
import { watched } from '../support/watched.ts'
import { kubernetesProgram } from './go_programs.ts'

const DEPLOY = join(import.meta.dir, '../../docs/deploy')
export const read = (name: string) => readFileSync(join(DEPLOY, name), 'utf8')

export type Chart = Awaited<ReturnType<typeof openChart>>

export async function openChart() {
  const program = await kubernetesProgram()
  const place = mkdtempSync(join(tmpdir(), 'cr-kubernetes-'))
  const call = async (words: string[], input = '', reveals = false) => {
    const options = { stdin: Buffer.from(input), stdout: 'pipe', stderr: 'pipe' } as const
    const child = watched(Bun.spawn([program, ...words], options), { reveals })
    const [out, error] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ])
    return { out, error, code: await child.exited }
  }
  return {
    place,
    check: (text: string, reveals = false) => call(['check'], text, reveals),
    render: (values: string) => {
      const file = join(place, 'values.yaml')
      writeFileSync(file, values)
      return call(['render', join(DEPLOY, 'helm'), file])
    },
    remove: () => rmSync(place, { recursive: true, force: true }),
  }
}

const named = z
  .object({ kind: z.string(), metadata: z.object({ name: z.string() }).loose() })
  .loose()

/** The objects of a text, by kind and name. */
export function objectsOf(text: string): Record<string, z.infer<typeof named>> {
  const objects = parseAllDocuments(text)
    .map((document) => document.toJS())
    .filter((object) => object !== null)
    .map((object) => named.parse(object))
  return Object.fromEntries(
    objects.map((object) => [`${object.kind} ${object.metadata.name}`, object]),
  )
}

/** The files of the secrets the way a kubelet mounts them, and the variables that name them. */
export function mounted(
  env: Record<string, string>,
  root: string,
  others: Record<string, string> = {},
): Record<string, string> {
  const values: Record<string, string> = {
    ...generateKeys(),
    DB_PASSWORD: 'not asked for',
    ...others,
  }
  return Object.fromEntries(
    Object.entries(env)
      .filter(([, path]) => path.startsWith('/run/secrets/'))
      .map(([variable, path]) => {
        const [, , , volume = '', name = ''] = path.split('/')
        const data = join(root, volume, '..2026_11_23')
        mkdirSync(data, { recursive: true })
        writeFileSync(join(data, name), values[name] ?? '')
        chmodSync(join(data, name), 0o440)
        rmSync(join(root, volume, '..data'), { force: true })
        symlinkSync('..2026_11_23', join(root, volume, '..data'))
        rmSync(join(root, volume, name), { force: true })
        symlinkSync(`..data/${name}`, join(root, volume, name))
        return [variable, join(root, volume, name)]
      }),
  )
}
