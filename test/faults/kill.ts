/** kill -9 at a random moment. */
import type { Random } from './random.ts'
import type { Replica } from './subject.ts'
import type { World } from './world.ts'

/** One process, or all of them; they are restarted automatically. */
export async function killRound(world: World, random: Random): Promise<void> {
  const { replicas } = world.subject
  const chosen = random.between(0, replicas.length)
  const victims = replicas.filter((_, index) => chosen === replicas.length || index === chosen)
  await world.through(async () => {
    await Bun.sleep(random.between(20, 1500))
    await whileDown(world, victims, () =>
      Promise.all(victims.map((victim) => victim.bounce('SIGKILL'))),
    )
    await Bun.sleep(random.between(20, 300))
  })
}

/** Work that fails meanwhile may fail. */
export async function whileDown(
  { down, cameBack }: World,
  replicas: readonly Replica[],
  fault: () => Promise<unknown>,
): Promise<void> {
  for (const { controlPlane } of replicas) down.add(controlPlane)
  await fault()
  for (const { controlPlane } of replicas) {
    down.delete(controlPlane)
    cameBack.set(controlPlane, performance.now())
  }
}
