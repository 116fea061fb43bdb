# frozen_string_literal: true

require "English"

module Labkit
  module RateLimit
    # A chain of rules, and the store it counts in. Build one for the life of the process; threads share it, and a
    # child process goes on with it.
    #
    # @example
    #   limiter = Labkit::RateLimit::Limiter.new(name: "sign_in", redis: pool, rules: [
    #     Labkit::RateLimit::Rule.new(name: "per_ip", limit: 10, period: 60, characteristics: [:ip])
    #   ])
    #   limiter.check({ ip: "198.18.0.1" }).action # => :allow
    class Limiter
      # What a limiter's name is made of.
      NAME_PATTERN = /\A[a-z0-9_]+\z/

      # How long a check waits for its store, where nothing is said, in seconds.
      DEADLINE = 0.1

      class << self
        # A limiter whose rules come from documents, which may be loaded anew.
        #
        # @param name [String]
        # @param available_limiters [Source, String, Pathname, nil] the contract: a document, or the path of its file
        # @param rate_limits [Array<Source, String, Pathname>] files of rules; the earlier one wins
        # @param rules [Array<Rule>] default rules in code, where the contract holds none
        # @param properties [Array<Symbol>] what identifiers hold, where there is no contract
        # @param allowed_skip_rules [Array<String>] which skip rules files may bring, where there is no contract
        # @param strict [Boolean] whether bad documents raise; else they are logged, and the default rules run
        # @param options [Hash] as {#initialize} takes them
        # @return [Limiter]
        # @raise [InvalidDocuments] with all that is wrong with them
        def from_documents(
          name:, available_limiters: nil, rate_limits: [], rules: [], properties: [], allowed_skip_rules: [],
          strict: true, **options
        )
          documents = Documents.read(
            available_limiters: available_limiters, rate_limits: rate_limits, properties: properties,
            allowed_skip_rules: allowed_skip_rules, strict: strict
          )
        rescue InvalidDocuments => e
          raise if strict

          new(name: name, rules: rules, **options).tap { |limiter| limiter.send(:unread, e) }
        else
          new(name: name, rules: rules, documents: documents, **options)
        end
      end

      # @return [String]
      attr_reader :name

      # @param name [String] a-z, 0-9 and _
      # @param rules [Array<Rule>] copied; none is legal, and never matches
      # @param redis [Object, nil] what answers `with { |connection| }`, or a client; `config.redis` where it is nil.
      #   Where there is none either, counters live in this process
      # @param logger [Object, nil] answers `warn(hash)`
      # @param options [Hash] of {Options}: `metrics`, `on_error`, `evaluation`, `deadline`, `topology`, `store`,
      #   `max_keys`, `clock`
      # @raise [InvalidRules] an ArgumentError, with all that is wrong
      # @raise [InvalidDocuments]
      def initialize(name:, rules:, redis: nil, logger: nil, **options)
        @logs = Logs.new(logger || RateLimit.config.logger || Logs.default)
        @options = Options.new(redis: redis || RateLimit.config.redis, **options)
        @name, @given = Naming.new(@logs).settle(name, rules)
        @redis = @options.host_redis(method(:say), -> { @core.found_cluster })
        build
        @metrics = Metrics.build(@options.metrics, @name, @logs)
        tell if @core.logs?
      end

      # Counts a call, and decides on it.
      #
      # @param identifier [Hash, Identifier] property names and values
      # @param cost [Numeric] of this call, at least 0
      # @param rule_context [Object, nil] what callables that take a parameter are given
      # @return [Result]
      # @raise [Identifier::InvalidKeyError] a property name that cannot be one
      def check(identifier, cost: 1, rule_context: nil)
        attributes = attributes(identifier)
        cost = plain(cost) unless cost.equal?(1)
        host = rule_context.nil? ? @host : @host.with(rule_context)
        decision = @redis ? ask(:check, attributes, cost, host) : @core.check(attributes, cost, host)
        rules = @in_force.of(decision)
        tell if @core.logs?
        @metrics&.checked(decision, rules)
        Result.decided(decision, rules)
      end

      # As {#check}; a block raises.
      #
      # @param identifier [Hash, Identifier]
      # @param cost [Numeric]
      # @param rule_context [Object, nil]
      # @return [Result]
      # @raise [Exceeded] with the result
      def check!(identifier, cost: 1, rule_context: nil)
        result = check(identifier, cost: cost, rule_context: rule_context)
        raise Exceeded, result if result.block?

        result
      end

      # Decides on the state as it stands, and changes nothing.
      #
      # @param identifier [Hash, Identifier]
      # @param rule_context [Object, nil]
      # @return [Result]
      def peek(identifier, rule_context: nil)
        attributes = attributes(identifier)
        host = @host.with(rule_context)
        decision = @redis ? ask(:peek, attributes, nil, host) : @core.peek(attributes, host)
        rules = @in_force.of(decision)
        tell if @core.logs?
        @metrics&.peeked(decision)
        Result.decided(decision, rules)
      end

      # Deletes counter and ban of every rule for this identifier.
      #
      # @param identifier [Hash, Identifier]
      # @return [Integer] how many keys were deleted
      def clear(identifier)
        attributes = attributes(identifier)
        deleted = @redis ? ask_to_clear(attributes) : @core.clear(attributes)
        tell if @core.logs?
        deleted
      end

      # @return [Array<Rule>] the rules in force, in chain order
      def rules
        @in_force.now
      end

      # Loads other documents. A bad one changes nothing.
      #
      # @param available_limiters [Source, String, Pathname, nil] as {.from_documents} takes them all
      # @param rate_limits [Array<Source, String, Pathname>]
      # @param properties [Array<Symbol>]
      # @param allowed_skip_rules [Array<String>]
      # @return [void]
      # @raise [InvalidDocuments]
      def reload(available_limiters: nil, rate_limits: [], properties: [], allowed_skip_rules: [])
        @in_force.from_documents
        @core.reload(
          Documents.read(
            available_limiters: available_limiters, rate_limits: rate_limits, properties: properties,
            allowed_skip_rules: allowed_skip_rules, strict: true
          )
        )
      rescue InvalidDocuments => e
        unread(e)
        raise
      rescue Native::BuildError => e
        raise InvalidDocuments, e.findings
      ensure
        tell if @core.logs?
      end

      # Asks a store again that kept failing, without waiting for the pause to end.
      #
      # @return [void]
      def close_circuit
        @core.close_circuit
      end

      # @return [String]
      def inspect
        "#<#{self.class.name} #{@name} rules=#{rules.map(&:name).inspect}>"
      end

      private

      def build
        words = Words.new
        rules = @given.map { |rule| words.rule(rule) }
        @core = Native::Core.new(@name, rules, @options.native(@redis))
        @host = Host.new(words.callables, words.patterns)
        @in_force = InForce.new(@given, @core, @options.documents)
      rescue Native::BuildError => e
        raise (@options.documents ? InvalidDocuments : InvalidRules), e.findings
      end

      def attributes(identifier)
        # Most are plain Hashes with Symbols for names, which the core reads as they are.
        case identifier
        when Hash
          Native.plain?(identifier, :endpoint) ? identifier : Identifier.new(identifier).attributes
        when Identifier then identifier.attributes
        else Identifier.new(identifier).attributes
        end
      end

      # The core takes no cost for a cost of 1, and a Duration is no number to it.
      def plain(cost)
        case cost
        when Integer then cost
        when Float then cost == Logs::NO_COST ? -Float::MAX : cost
        else cost.is_a?(Numeric) ? cost.to_f : Logs::NO_COST
        end
      rescue StandardError
        Logs::NO_COST
      end

      def ask(mode, attributes, cost, host)
        topology = @redis.topology
        answer = @core.plan(mode, attributes, cost, host)
        answer = settle(mode, answer, topology) while answer.is_a?(Native::Pending)
        answer.equal?(HostRedis::REPLAN) ? ask(mode, attributes, cost, host) : answer
      end

      def settle(mode, pending, topology)
        reply = @redis.run(pending, topology)
        came = true
        return reply if reply.equal?(HostRedis::REPLAN)

        @core.settle(pending, reply, nil)
      rescue StandardError => e
        came = true
        @core.settle(pending, nil, HostRedis.fault(e))
      ensure
        abandon(mode, pending) unless came
      end

      # A host's time-out, or the end of the thread, took the caller from the call: that raises, or throws, and goes on.
      def abandon(mode, pending)
        decision = @core.abandon(pending, $ERROR_INFO ? $ERROR_INFO.class.name.to_s : "Interrupted")
        @metrics&.checked(decision, @in_force.of(decision)) if mode == :check
        tell if @core.logs?
      end

      def ask_to_clear(attributes)
        topology = @redis.topology
        answer = @core.plan_clear(attributes)
        answer = settle_clear(answer, topology) while answer.is_a?(Native::PendingClear)
        answer.equal?(HostRedis::REPLAN) ? ask_to_clear(attributes) : answer
      end

      def settle_clear(pending, topology)
        reply = @redis.run(pending, topology)
        came = true
        return reply if reply.equal?(HostRedis::REPLAN)

        @core.settle_clear(pending, reply, nil)
      rescue StandardError => e
        came = true
        @core.settle_clear(pending, nil, HostRedis.fault(e))
      ensure
        unless came
          @core.abandon_clear(pending)
          tell if @core.logs?
        end
      end

      # Files that cannot be read are told as the core tells documents with mistakes.
      def unread(error)
        @logs.tell([{ message: "rate_limit_invalid_documents", error_type: "rate_limit_error", name: @name, rule: nil,
                      class_name: "UnreadableDocument", error_message: error.message, identifier_keys: [] }])
      end

      def tell
        @logs.tell(@core.take_logs)
      end

      def say(message)
        @logs.quietly(message: "rate_limit_redis_client", name: @name, error_message: message)
      end
    end
  end
end
