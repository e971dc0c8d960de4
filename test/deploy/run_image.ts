/** Runs an image that image.ts has built as a container engine would: in namespaces, as its user, read-only. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Image } from './image.ts'
import { inNamespaces } from './namespaces.ts'

type Run = { place: string; script: string }

/**
 * Runs a script of the shell beside the image, on its root without writing, in namespaces that are gone with it. In
 * it, `in_container` runs a program of the image, `server` starts it, `until_healthy` waits by its HEALTHCHECK, and
 * `stop` sends its STOPSIGNAL. Lines behind `>> name` become a list by that name.
 */
export async function runImage(
  image: Image,
  { place, script }: Run,
): Promise<Record<string, string[]>> {
  const { root, env, directory, user, volumes, health, stopSignal, entrypoint, command } = image
  const [uid = '', gid = ''] = user.split(':')
  const [volume = ''] = volumes
  const words = (list: readonly string[]) => list.map((word) => `'${word}'`).join(' ')
  const set = Object.entries({ PATH: '/usr/local/bin:/usr/bin:/bin', ...env })
  const prelude = `
    export root='${root}' volume='${place}/volume' secrets='${place}/secrets' log='${place}/log' trace='${place}/trace'
    mkdir "$secrets" && cp -a "$root${volume}" "$volume" && mkdir -p "$root/run/secrets"
    ip link set lo up
    mount --bind "$root" "$root" && mount -o remount,bind,ro "$root"
    mount --bind "$volume" "$root${volume}"
    mount --bind "$secrets" "$root/run/secrets" && mount -o remount,bind,ro "$root/run/secrets"
    mount -t proc proc "$root/proc" && mount -t proc proc /proc
    mount -t tmpfs -o mode=755 dev "$root/dev"
    for name in null zero random urandom; do
      : >"$root/dev/$name" && mount --bind "/dev/$name" "$root/dev/$name"
    done
    mount -o remount,ro "$root/dev"
    enter="setpriv --no-new-privs unshare --root=$root --wd=${directory} --setgid=${gid} --setuid=${uid} --"
    given() {
      exec env -i ${words(set.map(([name, value]) => `${name}=${value}`))} \\
        \${SECRET_KEY_FILE:+SECRET_KEY_FILE=$SECRET_KEY_FILE} \\
        \${ENCRYPTION_KEY_FILE:+ENCRYPTION_KEY_FILE=$ENCRYPTION_KEY_FILE} "$@"
    }
    in_container() ( given $enter "$@" )
    server() {
      given strace -ff -qq --seccomp-bpf -e trace=%file -o "$trace" $enter ${words([...entrypoint, ...command])} \\
        >"$log.out" 2>"$log" & starting=$!
    }
    until_healthy() {
      until in_container ${words(health)} >"$log.health"; do
        kill -0 $starting || { cat "$log"; exit 1; }
        sleep 0.2
      done
      cat "$log.health"
      pid=$(pgrep --parent $starting)
    }
    stop() { kill -s ${stopSignal.replace('SIG', '')} $pid; code=0; wait $starting || code=$?; }
  `
  const file = join(place, 'script')
  writeFileSync(file, `${prelude}\n${script}`)
  return inNamespaces(file)
}
