# frozen_string_literal: true

module Labkit
  module RateLimit
    # What value objects are made of: `Data`, or on Ruby 3.1, which has none, a class that answers alike.
    #
    # @api private
    Record = defined?(::Data.define) ? ::Data : Class.new

    unless Record.respond_to?(:define)
      # `Data` of Ruby 3.2, as far as value objects here use it.
      #
      # @api private
      class Record
        class << self
          # @param members [Array<Symbol>]
          # @return [Class] a class of frozen values with these members
          def define(*members, &block)
            names = members.freeze
            Class.new(self) do
              attr_reader(*names)

              define_singleton_method(:members) { names.dup }
              # `Data` has no `define` on the classes it makes.
              singleton_class.undef_method(:define)
              singleton_class.alias_method(:[], :new)
              class_eval(&block) if block
            end
          end

          # Positional arguments are keywords in the order of the members.
          #
          # @return [Record]
          # @raise [ArgumentError] if there are more of them than members
          def new(*values, **keywords)
            return super(**keywords) if values.empty?

            names = members
            if values.size > names.size
              raise ArgumentError, "wrong number of arguments (given #{values.size}, expected #{names.size})"
            end

            super(**names.zip(values).first(values.size).to_h)
          end
        end

        # @param values [Hash{Symbol => Object}] every member, and nothing else
        # @raise [ArgumentError] otherwise
        def initialize(**values)
          names = self.class.members
          missing = names - values.keys
          raise ArgumentError, listed("missing", missing) unless missing.empty?

          unknown = values.keys - names
          raise ArgumentError, listed("unknown", unknown) unless unknown.empty?

          values.each { |name, value| instance_variable_set(:"@#{name}", value) }
          freeze
        end

        # @return [Array<Symbol>]
        def members
          self.class.members
        end

        # @return [Hash{Symbol => Object}]
        def to_h(&block)
          pairs = self.class.members.to_h { |name| [name, instance_variable_get(:"@#{name}")] }
          block ? pairs.to_h(&block) : pairs
        end

        # @param changes [Hash{Symbol => Object}]
        # @return [Record] another with other values
        # @raise [ArgumentError] a member that there is not, or what is no keyword
        def with(*positional, **changes)
          unless positional.empty?
            raise ArgumentError, "wrong number of arguments (given #{positional.size}, expected 0)"
          end

          changes.empty? ? self : self.class.new(**every_member, **changes)
        end

        # @return [Boolean] the same class, and values that are `==`
        def ==(other)
          other.instance_of?(self.class) && every_member == other.every_member
        end

        # @return [Boolean] the same class, and values that are `eql?`
        def eql?(other)
          other.instance_of?(self.class) && every_member.eql?(other.every_member)
        end

        # @return [Integer] of class and values
        def hash
          [self.class, every_member].hash
        end

        # @param names [Array<Symbol>, nil] nil: all
        # @return [Hash{Symbol => Object}]
        # @raise [TypeError] what is no list of names
        def deconstruct_keys(names)
          unless names.nil? || names.is_a?(Array)
            raise TypeError, "wrong argument type #{names.class} (expected Array or nil)"
          end

          pairs = to_h
          names ? pairs.slice(*names) : pairs
        end

        # @return [String]
        def inspect
          shown = to_h.map { |name, value| "#{name}=#{value.inspect}" }.join(", ")
          "#<data #{[self.class.name, shown].compact.reject(&:empty?).join(" ")}>"
        end
        alias to_s inspect

        protected

        def every_member
          self.class.members.to_h { |name| [name, instance_variable_get(:"@#{name}")] }
        end

        private

        def listed(what, names)
          "#{what} keyword#{"s" if names.size > 1}: #{names.map(&:inspect).join(", ")}"
        end
      end
    end

    # For a value whose further members have defaults: one that stands at its default is not listed. So a value
    # built as labkit-ruby builds it looks as it looks there.
    #
    # The class names its further members and their defaults in `FURTHER`.
    #
    # @api private
    module Listing
      # @return [Array<Symbol>]
      def members
        self.class.members.reject { |name| self.class::FURTHER.key?(name) && at_default?(name) }
      end

      # @return [Hash{Symbol => Object}]
      def to_h(&block)
        pairs = members.to_h { |name| [name, public_send(name)] }
        block ? pairs.to_h(&block) : pairs
      end

      # @return [Array] the values, in the order of the members
      def deconstruct
        to_h.values
      end

      # @return [Hash{Symbol => Object}]
      def deconstruct_keys(names)
        return to_h unless names

        names.each_with_object({}) do |name, pairs|
          break pairs unless self.class.members.include?(name)

          pairs[name] = public_send(name)
        end
      end

      # @return [String]
      def inspect
        "#<data #{self.class.name} #{to_h.map { |name, value| "#{name}=#{value.inspect}" }.join(", ")}>"
      end
      alias to_s inspect

      private

      def at_default?(name)
        public_send(name).eql?(self.class::FURTHER.fetch(name))
      end
    end
  end
end
