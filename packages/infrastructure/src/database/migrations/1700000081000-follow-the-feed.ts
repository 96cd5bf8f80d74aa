import type { QueryRunner } from 'typeorm';

/**
 * A webhook follows the feed from a position of its own, instead of getting a row for each event when it is published.
 */
export class FollowTheFeed1700000081000 {
  async up(runner: QueryRunner): Promise<void> {
    // The default is for the previous version, which adds webhooks without a position. The column isn't called
    // `position`, which would be ambiguous in one of its statements.
    await runner.query(`
      CREATE FUNCTION event_feed_end() RETURNS bigint LANGUAGE sql STABLE
      RETURN (SELECT last_position FROM event_feed)`);
    // Existing webhooks have a delivery for each event up to this position. The previous version may add some for later
    // ones. Their `follows_since` stays null, because they must get events that happened but aren't published yet.
    await runner.query(`
      ALTER TABLE webhooks
        ADD COLUMN feed_position bigint NOT NULL DEFAULT event_feed_end(),
        ADD COLUMN follows_since timestamptz,
        ALTER COLUMN follows_since SET DEFAULT now(),
        ADD COLUMN paused_until timestamptz NOT NULL DEFAULT '-infinity',
        ADD COLUMN turn_took integer,
        ADD COLUMN attempted_at timestamptz,
        ADD COLUMN recovering_since timestamptz,
        ADD COLUMN recovery_position bigint,
        ADD COLUMN recovery_end bigint,
        ADD COLUMN secret_key text,
        ADD COLUMN past_secrets jsonb NOT NULL DEFAULT '[]'`);
  }
}
