/** Debian's package of an executable: the program, its unit, its settings, and the user that it runs as. */
import { chmod, mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import project from '../../../package.json' with { type: 'json' }
import type { Source } from './source.ts'

const ROOT = join(import.meta.dir, '..', '..', '..')
const SCRIPTS = import.meta.dir
const UNIT = 'usr/lib/systemd/system/cloakroom.service'
const SETTINGS = 'etc/cloakroom.env'
const COPYRIGHT = 'usr/share/doc/cloakroom/copyright'
const MAINTAINER = 'Cloakroom <noreply@cloakroom.invalid>'
/** The version that the runtime needs. */
const GLIBC = '2.17'

type Contents = { executable: string; architecture: string; source: Source; folder: string }

/** Whether packages can be built on this machine. */
export const hasDpkg = Bun.which('dpkg-deb') !== null

/** Builds the package and returns its name in the folder. */
export async function makeDebianPackage(contents: Contents): Promise<string> {
  const { architecture, source, folder } = contents
  const tree = join(folder, `debian-${architecture}`)
  await layOut(tree, contents)
  const seconds = source.time.getTime() / 1000
  const file = `cloakroom_${project.version}_${architecture}.deb`
  // gzip, since xz takes a minute for a tenth less.
  await Bun.$`dpkg-deb --root-owner-group -Zgzip --build ${tree} ${join(folder, file)}`
    .env({ ...process.env, SOURCE_DATE_EPOCH: String(seconds) })
    .quiet()
  await rm(tree, { recursive: true })
  return file
}

async function layOut(tree: string, contents: Contents): Promise<void> {
  const readScript = (path: string) => Bun.file(join(SCRIPTS, path)).bytes()
  await put(tree, 'usr/bin/cloakroom', 0o755, await Bun.file(contents.executable).bytes())
  await put(
    tree,
    UNIT,
    0o644,
    unitOf(await Bun.file(join(ROOT, 'docs/deploy/cloakroom.service')).text()),
  )
  await put(tree, SETTINGS, 0o600, await readScript('debian/settings.env'))
  await put(tree, COPYRIGHT, 0o644, await Bun.file(join(ROOT, 'LICENSE')).bytes())
  for (const script of ['postinst', 'prerm', 'postrm'])
    await put(tree, `DEBIAN/${script}`, 0o755, await readScript(`debian/${script}`))
  await put(tree, 'DEBIAN/conffiles', 0o644, `/${SETTINGS}\n`)
  await put(tree, 'DEBIAN/control', 0o644, controlOf(contents))
}

/** Returns the documented unit with the package's path; the package creates the user. @throws Error */
function unitOf(documented: string): string {
  const changes: [from: string, to: string][] = [
    [documented.slice(0, documented.indexOf('[Unit]')), ''],
    ['/usr/local/bin/cloakroom', '/usr/bin/cloakroom'],
    ['# A user for this unit alone; one of this name that exists is taken.\n', ''],
    ['DynamicUser=yes\n', ''],
  ]
  return changes.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`cloakroom.service has no ${from}`)
    return text.replace(from, to)
  }, documented)
}

async function put(tree: string, path: string, mode: number, content: string | Uint8Array) {
  await mkdir(join(tree, dirname(path)), { recursive: true })
  await Bun.write(join(tree, path), content)
  await chmod(join(tree, path), mode)
}

function controlOf({ executable, architecture }: Contents): string {
  const kilobytes = Math.ceil(Bun.file(executable).size / 1024)
  return `Package: cloakroom
Version: ${project.version}
Architecture: ${architecture}
Maintainer: ${MAINTAINER}
Section: admin
Priority: optional
Installed-Size: ${kilobytes}
Depends: libc6 (>= ${GLIBC}), passwd
Description: ${project.description.replace(/^A |\.$/g, '')}
 One executable: the server, with its own database or PostgreSQL, the
 command line, and the proxy for programs on a machine.
`
}
