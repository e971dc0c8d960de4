import { serverCommand } from '../../command.ts'

const DAYS = '2'

export default serverCommand(
  {
    usage: 'calculate_metrics',
    options: [['--days <count>', 'how many days, today included', DAYS]],
  },
  async (_host, _isJson, given) =>
    (await import('../../../operator/calculate_metrics.ts')).runCalculateMetrics(
      given?.days ?? DAYS,
    ),
)
