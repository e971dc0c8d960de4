/** Scripts with their own mounts, processes and network, which disappear with them. */
import { watched } from '../support/watched.ts'

/** Runs a shell script. Each line that it prints after `>> name` is in the list of that name. */
export async function inNamespaces(
  file: string,
  env: Record<string, string | undefined> = process.env,
): Promise<Record<string, string[]>> {
  const namespaces = ['unshare', '--mount', '--pid', '--net', '--fork', '--kill-child']
  const child = watched(
    Bun.spawn([...namespaces, 'sh', '-u', file], {
      env,
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    }),
  )
  const [out, error] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  if ((await child.exited) !== 0 || !out.includes('>> end')) throw new Error(`${out}\n${error}`)
  const parts = out.split(/^>> /m).slice(1)
  return Object.fromEntries(
    parts.map((part) => {
      const [name = '', ...lines] = part.trimEnd().split('\n')
      return [name, lines]
    }),
  )
}
